// SPDX-License-Identifier: Apache-2.0
// A measurement is described once: a record has `describe(record, visit)`, and wire, journal, tables, sums, report and docs visit it.
#pragma once

#include <array>
#include <concepts>
#include <string_view>
#include <type_traits>

namespace trireme::observe {

// How values of several records become one: of the steps of a window, of the epochs of a server, of the machines of a cluster.
enum class Combine {
  none,  // they don't
  sum,
  max,
  mean,  // of machines, weighted by their cores
};

// Whether a field is a part of a step's time.
enum class Part {
  none,
  of_step,  // these follow one another and add up to `seconds`
  beside,   // at the same time, on other threads: never added to them
};

struct Field {
  std::string_view name;     // in journal, table and report; a duration ends in _seconds
  std::string_view unit;     // empty: none
  std::string_view meaning;  // its row in docs/journal.md
  Combine combine = Combine::none;
  Part part = Part::none;                      // named without _seconds in the report
  std::string_view series = {};                // the name of its curve over time in the report; empty: it has none
  bool is_rate = false;                        // the curve shows it per second
  int digits = 0;                              // significant ones that a table keeps, and as a float on the wire; 0: all
  bool is_from_one = false;                    // counted from 0 in the program, from 1 in files
  bool is_present = true;                      // in this very record; files leave it out otherwise
  bool is_in_files = true;                     // false: only on its way to the coordinator
  std::array<std::string_view, 2> words = {};  // for false and true in the journal; empty: a truth value
};

// For `template <Described<StepRecord> R, class Visit> void describe(R& record, Visit&& visit)`, const or not. A description calls
// visit(Field, value) for each field, always the same ones in the same order.
template <class R, class Record>
concept Described = std::same_as<std::remove_const_t<R>, Record>;

}  // namespace trireme::observe
