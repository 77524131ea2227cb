// SPDX-License-Identifier: Apache-2.0
// Orders classes and confusions by what a reader looks for first.
#include "trireme/report/scores/evaluation.h"

#include <algorithm>

namespace trireme::report {

std::vector<Confusion> most_confused(const ClassEvaluation& classes, std::size_t limit) {
  std::vector<Confusion> cells = classes.confusions;
  std::erase_if(cells, [](const Confusion& cell) { return cell.label == cell.answer; });
  std::ranges::stable_sort(cells, std::greater<>(), &Confusion::count);
  cells.resize(std::min(cells.size(), limit));
  return cells;
}

std::vector<std::size_t> weakest_classes(const ClassEvaluation& classes, std::size_t limit) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < classes.classes.size(); ++i)
    if (classes.classes[i].support > 0) order.push_back(i);
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return classes.classes[i].f1; });
  order.resize(std::min(order.size(), limit));
  return order;
}

}  // namespace trireme::report
