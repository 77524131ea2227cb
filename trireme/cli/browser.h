// SPDX-License-Identifier: Apache-2.0
// Opens an address or a file in the user's browser, where there is a screen.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

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

// Whether there is a display on which a user could see it, and a terminal from which they asked for it.
bool has_screen();

// With the programs that $BROWSER names, else by xdg-open. Where there is none nothing happens.
void open_in_browser(const std::filesystem::path& file);

// What is tried, in order, for what $BROWSER says: "firefox:chromium --new-window %s"; %s becomes the file, or it stands at the end.
std::vector<std::vector<std::string>> browser_commands(std::string_view browser, const std::string& file);

}  // namespace trireme::cli
