// SPDX-License-Identifier: Apache-2.0
// Opens an address in the user's browser, where there is a screen.
#pragma once

#include <filesystem>
#include <string>

namespace trireme::cli {

// Arguments of a process can be read by all users of the machine, and the address has a secret in it: the browser is given a file that
// only the user may read and that leads on. It is removed with this object.
class Browser {
 public:
  explicit Browser(const std::string& url);
  ~Browser();
  Browser(const Browser&) = delete;
  Browser& operator=(const Browser&) = delete;

 private:
  std::filesystem::path file_;
};

// Whether there is a display on which a user could see it.
bool has_screen();

}  // namespace trireme::cli
