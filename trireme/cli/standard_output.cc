// SPDX-License-Identifier: Apache-2.0
// A stream over stdio, which locks each write: several threads print.
#include "trireme/cli/standard_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <string_view>
#include <system_error>

#include "trireme/cli/command_entry.h"
#include "trireme/run/terminal/exit_code.h"

namespace trireme::cli {

void choose_pipe_signal(int argc, const char* const* argv) {
  const std::string_view name = argc > 1 ? argv[1] : "";
  const auto& commands = commands::catalog();
  const auto entry = std::ranges::find(commands, name, &CommandEntry::name);
  std::signal(SIGPIPE, entry != commands.end() && entry->goes_on_unread ? SIG_IGN : SIG_DFL);
}

int StandardOutput::finish(int code) {
  sync();
  const int error = error_;
  return code == run::exit_ok && error != 0 && error != EPIPE ? run::exit_failed : code;
}

StandardOutput::int_type StandardOutput::overflow(int_type character) {
  const char text = traits_type::to_char_type(character);
  if (!traits_type::eq_int_type(character, traits_type::eof())) xsputn(&text, 1);
  return traits_type::not_eof(character);
}

std::streamsize StandardOutput::xsputn(const char* text, std::streamsize length) {
  const auto bytes = static_cast<std::size_t>(length);
  if (error_ == 0 && std::fwrite(text, 1, bytes, file_) != bytes) on_failure(errno);
  return length;
}

int StandardOutput::sync() {
  if (error_ == 0 && std::fflush(file_) != 0) on_failure(errno);
  return 0;
}

void StandardOutput::on_failure(int error) {
  if (error_.exchange(error) != 0) return;
  if (error == EPIPE)
    err_ << "note: nothing reads the output any more; the command goes on without it\n" << std::flush;
  else
    err_ << fmt::format("trireme: error: standard output can't be written: {}; what it says is not complete\n",
                        std::generic_category().message(error))
         << std::flush;
}

}  // namespace trireme::cli
