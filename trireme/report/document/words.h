// SPDX-License-Identifier: Apache-2.0
// Numbers with units for people, alike in all reports.
#pragma once

#include <string>

namespace trireme::report {

std::string duration(double seconds);       // "812 µs", "12.3 ms", "4.56 s", "1:02:03"; "–" if unknown
std::string percent(double share);          // "45 %", "4.5 %", "0.45 %"
std::string signed_percent(double share);   // "+4.5 %"
std::string rate(double bytes_per_second);  // "12.3 MB/s"
std::string bytes(double count);            // "1.2 GB", powers of 1000
std::string fixed(double value, int digits);
std::string plain(double value);  // up to four significant digits; whole numbers with thousands

}  // namespace trireme::report
