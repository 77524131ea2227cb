// SPDX-License-Identifier: Apache-2.0
// cfitsio reads from memory here: given a file's name it would obey what is written in it (commands, addresses, filters).
#include "trireme/data/formats/fits_file.h"

#include <fitsio.h>

#include <array>
#include <cstdlib>
#include <limits>

#include "trireme/base/error.h"
#include "trireme/base/files.h"

namespace trireme::data {
namespace {

std::string status_text(int status) {
  std::array<char, FLEN_STATUS> text{};
  fits_get_errstatus(status, text.data());
  fits_clear_errmsg();
  return text.data();
}

bool is_number(int type) {
  switch (type) {
    case TBYTE:
    case TSBYTE:
    case TSHORT:
    case TUSHORT:
    case TINT:
    case TUINT:
    case TLONG:
    case TULONG:
    case TLONGLONG:
    case TFLOAT:
    case TDOUBLE:
      return true;
    default:
      return false;
  }
}

}  // namespace

struct FitsFile::Handle {
  fitsfile* file = nullptr;
  void* bytes = nullptr;  // cfitsio keeps the addresses of both
  std::size_t size = 0;

  Handle() = default;
  ~Handle() {
    int status = 0;
    if (file != nullptr) fits_close_file(file, &status);
    fits_clear_errmsg();
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
};

FitsFile::FitsFile(const std::filesystem::path& path)
    : name_(path.string()), bytes_(read_file(path)), units_(check_fits_structure(bytes_, name_)), handle_(std::make_unique<Handle>()) {
  handle_->bytes = bytes_.data();
  handle_->size = bytes_.size();
  int status = 0;
  fits_open_memfile(&handle_->file, "spectrum", READONLY, &handle_->bytes, &handle_->size, 0, nullptr, &status);
  require(status, "the first header");
}

FitsFile::~FitsFile() = default;

void FitsFile::require(int status, const std::string& what) const {
  if (status != 0) throw Error{data_loss, "{}: {} cannot be read: {} (cfitsio {})", name_, what, status_text(status), status};
}

void FitsFile::select_table(int unit) {
  const auto index = static_cast<std::size_t>(unit);
  if (index >= units_.size())
    throw Error{data_loss,    "{}: expected a binary table in unit {}, the file ends at byte {} after {} units", name_, unit, bytes_.size(),
                units_.size()};
  if (!units_[index].is_table)
    throw Error{data_loss, "{}: at byte {} expected a plain binary table (unit {}), found something else", name_, units_[index].header,
                unit};
  int status = 0, type = 0;
  fits_movabs_hdu(handle_->file, unit + 1, &type, &status);
  require(status, fmt::format("unit {} at byte {}", unit, units_[index].header));
}

FitsFile::Column FitsFile::find_column(int unit, const std::string& name) {
  select_table(unit);
  int status = 0, type = 0;
  Column column;
  fits_get_colnum(handle_->file, CASEINSEN, const_cast<char*>(name.c_str()), &column.number, &status);
  require(status, fmt::format("column '{}' of unit {}", name, unit));
  LONGLONG rows = 0, repeat = 0, width = 0;
  fits_get_num_rowsll(handle_->file, &rows, &status);
  fits_get_coltypell(handle_->file, column.number, &type, &repeat, &width, &status);
  require(status, fmt::format("the type of column '{}'", name));
  if (!is_number(type)) throw Error{data_loss, "{}: column '{}' of unit {} does not hold numbers", name_, name, unit};
  const auto size = static_cast<std::int64_t>(bytes_.size());
  if (rows < 1 || repeat < 1 || width < 1 || rows > size || repeat > size / rows / width)
    throw Error{data_loss, "{}: column '{}' of unit {} promises {} x {} numbers in a file of {} bytes", name_, name, unit, rows, repeat,
                size};
  column.count = rows * repeat;
  return column;
}

template <class T>
std::vector<T> FitsFile::read_column(int unit, const std::string& name, int type) {
  const Column column = find_column(unit, name);
  std::vector<T> values(static_cast<std::size_t>(column.count));
  T undefined = std::numeric_limits<T>::quiet_NaN();
  int status = 0, any_undefined = 0;
  fits_read_col(handle_->file, type, column.number, 1, 1, column.count, &undefined, values.data(), &any_undefined, &status);
  require(status, fmt::format("column '{}' of unit {}", name, unit));
  return values;
}

std::vector<float> FitsFile::column(int unit, const std::string& name) { return read_column<float>(unit, name, TFLOAT); }
std::vector<double> FitsFile::precise_column(int unit, const std::string& name) { return read_column<double>(unit, name, TDOUBLE); }

void write_fits(const std::filesystem::path& path, const std::vector<std::vector<FitsColumn>>& tables) {
  int status = 0;
  fitsfile* file = nullptr;
  std::size_t size = kFitsBlock;
  void* bytes = std::malloc(size);  // cfitsio makes it larger with realloc
  fits_create_memfile(&file, &bytes, &size, kFitsBlock, std::realloc, &status);
  fits_create_img(file, BYTE_IMG, 0, nullptr, &status);
  for (const std::vector<FitsColumn>& columns : tables) {
    fits_create_tbl(file, BINARY_TBL, static_cast<LONGLONG>(columns.front().values.size()), 0, nullptr, nullptr, nullptr, nullptr, &status);
    for (int i = 0; i < static_cast<int>(columns.size()); ++i) {
      const FitsColumn& column = columns[static_cast<std::size_t>(i)];
      std::string name = column.name, form = "1E";
      fits_insert_col(file, i + 1, name.data(), form.data(), &status);
      fits_write_col(file, TFLOAT, i + 1, 1, 1, static_cast<LONGLONG>(column.values.size()), const_cast<float*>(column.values.data()),
                     &status);
    }
  }
  LONGLONG header = 0, data = 0, end = 0;
  fits_flush_file(file, &status);
  fits_get_hduaddrll(file, &header, &data, &end, &status);
  const std::string content = status == 0 ? std::string(static_cast<const char*>(bytes), static_cast<std::size_t>(end)) : "";
  int closing = 0;
  fits_close_file(file, &closing);
  std::free(bytes);
  if (status != 0) throw Error{internal, "{}: cannot be written: {} (cfitsio {})", path.string(), status_text(status), status};
  write_file_atomically(path, content);
}

}  // namespace trireme::data
