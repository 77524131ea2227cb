// SPDX-License-Identifier: Apache-2.0
// Tables of a FITS file through cfitsio, read as a whole into memory so that no name and no size of the file is ever trusted.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "trireme/data/formats/fits_structure.h"

namespace trireme::data {

class FitsFile {
 public:
  // Checks that the units of the file (HDUs) fill it exactly; data_loss says what is wrong and where.
  explicit FitsFile(const std::filesystem::path& path);
  ~FitsFile();
  FitsFile(const FitsFile&) = delete;
  FitsFile& operator=(const FitsFile&) = delete;

  // All numbers of a column of the binary table `unit`; the first unit is 0 and holds no table. Undefined ones are NaN.
  std::vector<float> column(int unit, const std::string& name);
  std::vector<double> precise_column(int unit, const std::string& name);

  const std::string& name() const { return name_; }

 private:
  struct Column {
    int number = 0;
    std::int64_t count = 0;
  };
  void select_table(int unit);
  Column find_column(int unit, const std::string& name);
  template <class T>
  std::vector<T> read_column(int unit, const std::string& name, int type);
  void require(int status, const std::string& what) const;

  struct Handle;
  std::string name_;
  std::string bytes_;
  std::vector<FitsUnit> units_;
  std::unique_ptr<Handle> handle_;
};

// A FITS file of binary tables whose columns are numbers of equal count, for examples and tests.
struct FitsColumn {
  std::string name;
  std::vector<float> values;
};
void write_fits(const std::filesystem::path& path, const std::vector<std::vector<FitsColumn>>& tables);

}  // namespace trireme::data
