// SPDX-License-Identifier: Apache-2.0
// Downloads by libcurl, with resumption and progress.
#include "trireme/fetch/downloader.h"

#include <curl/curl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "trireme/base/error.h"

namespace trireme::fetch {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
struct CloseTransfer {
  void operator()(CURL* curl) const { curl_easy_cleanup(curl); }
};

constexpr int kSlow = 1000;  // bytes a second

// One request; curl's callbacks see it.
struct Transfer {
  std::unique_ptr<CURL, CloseTransfer> curl{curl_easy_init()};
  std::unique_ptr<std::FILE, CloseFile> out;
  std::string shown;         // what the progress calls it
  std::int64_t start = 0;    // bytes that were there before
  std::int64_t written = 0;  // now in the file
  std::int64_t limit = 0;
  bool first = true;
  Seconds stall{0};
  Seconds watched_since = SteadyClock().now();
  std::int64_t watched_from = 0;
  std::string fault;  // of our own, where curl only knows that a callback failed
  Progress* progress = nullptr;
  std::array<char, CURL_ERROR_SIZE> message{};

  std::int64_t status() const {
    long code = 0;
    curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &code);
    return code;
  }
};

// A server that doesn't know ranges answers 200 and sends everything again.
bool begin_anew(Transfer& transfer) {
  if (std::fflush(transfer.out.get()) != 0 || ::ftruncate(::fileno(transfer.out.get()), 0) != 0) return false;
  std::rewind(transfer.out.get());
  transfer.start = transfer.written = 0;
  return true;
}

std::size_t on_bytes(const char* bytes, std::size_t size, std::size_t count, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  if (transfer.first && transfer.start > 0 && transfer.status() != 206 && !begin_anew(transfer)) return 0;
  transfer.first = false;
  if (transfer.written + static_cast<std::int64_t>(size * count) > transfer.limit) {
    transfer.fault = fmt::format("more than {} bytes came", transfer.limit);
    return 0;
  }
  const std::size_t written = std::fwrite(bytes, 1, size * count, transfer.out.get());
  if (written != size * count) transfer.fault = std::strerror(errno);
  transfer.written += static_cast<std::int64_t>(written);
  return written;
}

// curl's own watch looks back over five seconds at least.
bool stalls(Transfer& transfer) {
  const Seconds now = SteadyClock().now();
  if (now - transfer.watched_since < transfer.stall) return false;
  const bool slow = static_cast<double>(transfer.written - transfer.watched_from) < kSlow * transfer.stall.count();
  transfer.watched_since = now;
  transfer.watched_from = transfer.written;
  return slow;
}

int on_progress(void* user, curl_off_t total, curl_off_t now, curl_off_t /*to_send*/, curl_off_t /*sent*/) {
  auto& transfer = *static_cast<Transfer*>(user);
  if (now > 0) transfer.progress->received(transfer.shown, transfer.written, total > 0 ? transfer.start + total : 0);
  if (!stalls(transfer)) return 0;
  transfer.fault = fmt::format("less than {} bytes a second came for {:.0f} s", kSlow, transfer.stall.count());
  return 1;
}

std::string part_of(CURLU* url, CURLUPart part) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, CURLU_DEFAULT_PORT) != CURLUE_OK) return {};
  std::string copy = text;
  curl_free(text);
  return copy;
}

// "host:port"; empty for files.
std::string host_of(const std::string& url) {
  const std::unique_ptr<CURLU, void (*)(CURLU*)> parts(curl_url(), curl_url_cleanup);
  if (curl_url_set(parts.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK) return {};
  const std::string host = part_of(parts.get(), CURLUPART_HOST);
  return host.empty() ? host : fmt::format("{}:{}", host, part_of(parts.get(), CURLUPART_PORT));
}

void set_options(Transfer& transfer, const std::string& url, const DownloadLimits& limits) {
  CURL* curl = transfer.curl.get();
  curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https,file");
  curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(curl, CURLOPT_MAXREDIRS, 10L);
  curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L);
  curl_easy_setopt(curl, CURLOPT_USERAGENT, "trireme");
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, transfer.message.data());
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(limits.connect.count() * 1000));
  curl_easy_setopt(curl, CURLOPT_MAXFILESIZE_LARGE, static_cast<curl_off_t>(limits.bytes));
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_bytes);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &transfer);
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &transfer);
  if (transfer.start > 0) curl_easy_setopt(curl, CURLOPT_RANGE, fmt::format("{}-", transfer.start).c_str());
}

// A file address has no status that shows whether a range was honoured.
std::int64_t bytes_there(const std::string& url, const std::filesystem::path& file) {
  if (url.starts_with("file:") || !std::filesystem::exists(file)) return 0;
  return static_cast<std::int64_t>(std::filesystem::file_size(file));
}

void open_file(Transfer& transfer, const std::filesystem::path& file) {
  transfer.out.reset(std::fopen(file.c_str(), transfer.start > 0 ? "abe" : "wbe"));
  if (!transfer.out) throw Error{unavailable, "cannot write {}: {}", file.string(), std::strerror(errno)};
  std::setvbuf(transfer.out.get(), nullptr, _IONBF, 0);  // a killed fetch loses nothing; curl's pieces are large
}

// What the end of a transfer means for the next step.
enum class Ending { complete, cut, beyond_end, unreachable, failed };

Ending ending_of(CURLcode result, const Transfer& transfer) {
  switch (result) {
    case CURLE_OK:
      return Ending::complete;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
      return Ending::unreachable;
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_ABORTED_BY_CALLBACK:
      return transfer.status() == 0 ? Ending::unreachable : Ending::cut;
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
      return Ending::cut;
    default:
      return transfer.status() == 416 ? Ending::beyond_end : Ending::failed;
  }
}

// "416, and the file has N bytes": the earlier attempt had everything and only the end was not seen.
bool had_everything(const Transfer& transfer) {
  curl_header* header = nullptr;
  if (curl_easy_header(transfer.curl.get(), "Content-Range", 0, CURLH_HEADER, -1, &header) != CURLHE_OK) return false;
  return std::string_view(header->value).ends_with(fmt::format("*/{}", transfer.start));
}

std::string reason(CURLcode result, const Transfer& transfer) {
  if (!transfer.fault.empty()) return transfer.fault;
  if (transfer.message[0] != '\0') return transfer.message.data();
  return curl_easy_strerror(result);
}

}  // namespace

void Downloader::download(const std::string& url, const std::filesystem::path& file) {
  const std::string host = host_of(url);
  if (silent_hosts_.contains(host)) throw Error{unavailable, "{} did not answer before and is not asked again", host};
  for (int attempt = 1;; ++attempt) {
    Transfer transfer{
        .shown = url.substr(url.rfind('/') + 1), .start = bytes_there(url, file), .limit = limits_.bytes, .stall = limits_.stall};
    if (!transfer.curl) throw Error{resource_exhausted, "libcurl cannot be started"};
    transfer.written = transfer.watched_from = transfer.start;
    transfer.progress = &progress_;
    open_file(transfer, file);
    set_options(transfer, url, limits_);
    CURLcode result = curl_easy_perform(transfer.curl.get());
    if (std::fflush(transfer.out.get()) != 0 && result == CURLE_OK) {
      transfer.fault = std::strerror(errno);
      result = CURLE_WRITE_ERROR;
    }
    const Ending ending = ending_of(result, transfer);
    if (ending == Ending::complete || (ending == Ending::beyond_end && had_everything(transfer))) return;
    if (ending == Ending::unreachable && !host.empty()) silent_hosts_.insert(host);
    const bool brought_something = ending == Ending::cut && transfer.written > transfer.start;
    if (ending == Ending::beyond_end) std::filesystem::remove(file);
    if (attempt < limits_.attempts && (brought_something || ending == Ending::beyond_end)) continue;
    throw Error{unavailable, "{}: {}", url, reason(result, transfer)};
  }
}

}  // namespace trireme::fetch
