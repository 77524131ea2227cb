// SPDX-License-Identifier: Apache-2.0
// What all recipes share: held-out parts, the schedule, and the text of the job.
#include "trireme/inspect/recipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "trireme/base/config.h"
#include "trireme/base/table.h"
#include "trireme/inspect/inspect.h"
#include "trireme/inspect/place.h"

namespace trireme::inspect {
namespace {

// Large sets need a smaller share to be judged by.
void hold_out(const Inspection& inspection, Recipe& recipe) {
  const bool large = inspection.samples >= 20000;
  recipe.validation = large ? 0.05 : inspection.samples < 1000 ? 0.15 : 0.1;
  recipe.test_split = inspection.test_samples > 0 ? 0 : large ? 0.1 : inspection.samples < 1000 ? 0.2 : 0.15;
}

std::string heading(const Inspection& inspection, const Recipe& recipe) {
  std::string text =
      fmt::format("# {}: {}, {}", inspection.path.filename().string(), inspection.finding.title, counted(inspection.samples, "sample"));
  if (inspection.classes() > 0) text += fmt::format(", {}", counted(inspection.classes(), "class", "classes"));
  text += ".\n# Written by `trireme init`. Every line may be changed; `trireme list job` explains all options.\n";
  if (!recipe.estimate.empty()) text += fmt::format("# Time and memory: {}.\n", recipe.estimate);
  const std::vector<std::string>& left_out = inspection.finding.left_out;
  for (std::size_t i = 0; i < std::min<std::size_t>(left_out.size(), 20); ++i) text += fmt::format("# Left out: {}\n", left_out[i]);
  return text;
}

// Whether weights of an earlier epoch are chosen: by accuracy, and only where enough samples decide it. The last epoch of a falling rate is
// a good choice anyway, and the loss of few samples prefers a network that has hardly begun.
std::string choice_of_weights(const Inspection& inspection, const Recipe& recipe) {
  constexpr double kEnough = 300;
  if (static_cast<double>(inspection.samples) * recipe.validation < kEnough)
    return "keep_best = false               # the last epoch counts: too few samples are held out to choose another by\n";
  if (inspection.classes() == 0) return "";
  return "\n[train.early_stopping]\nwatch = \"accuracy\"              # the weights of the most accurate epoch are kept\n";
}

std::string schedule(const Recipe& recipe) {
  return fmt::format(
      "[train.schedule]\nkind = \"cosine\"                 # the rate falls to 0 in the course of the training\nwarmup_epochs = {}\n",
      recipe.epochs >= 20 ? 2 : 1);
}

}  // namespace

Recipe recipe_for(const Inspection& inspection) {
  const Form form = inspection.finding.form;
  Recipe recipe = form == Form::pictures ? picture_recipe(inspection)
                  : form == Form::curves ? curve_recipe(inspection)
                                         : table_recipe(inspection);
  hold_out(inspection, recipe);
  return recipe;
}

std::int64_t batch_size_for(std::int64_t samples, std::int64_t parts, std::int64_t least, std::int64_t most) {
  std::int64_t size = least;
  while (size * 2 <= most && size * 2 * parts <= samples) size *= 2;
  return size;
}

std::string number_output(const Inspection& inspection) {
  return fmt::format(
      "\n[[model.layers]]\nop = \"dense\"\nunits = {}\n\n"
      "[[model.layers]]                # from about -1 to 1 to the numbers of the data: their deviation and mean\n"
      "op = \"scale\"\nfactor = {}\noffset = {}\n",
      inspection.format.targets, toml_number(inspection.target_deviation), toml_number(inspection.target_mean));
}

std::string job_text(const Inspection& inspection, const Recipe& recipe, const std::filesystem::path& base) {
  std::string text = heading(inspection, recipe) + "\n[model]                         # " + recipe.network + "\n" + recipe.model;
  text += "\n[data]\n" + data_lines(inspection.finding, base);
  const auto line = [&](const std::string& setting, const std::string& why) { text += fmt::format("{:<31} # {}\n", setting, why); };
  line(fmt::format("validation = {}", recipe.validation), "a share held out, for the check after each epoch");
  if (recipe.test_split > 0) line(fmt::format("test_split = {}", recipe.test_split), "a share that is scored once, at the end");
  if (inspection.classes() > 0) line("stratify = true", "each part has as much of each class");
  line(fmt::format("normalize = \"{}\"", recipe.normalize), recipe.normalize_why);
  if (!recipe.augment.empty()) text += "\n[data.augment]                  # training only\n" + recipe.augment;
  text += "\n[train]\n";
  line(fmt::format("epochs = {}", recipe.epochs), recipe.epochs_why);
  text += fmt::format("batch_size = {}\nseed = 1\n", recipe.batch_size);
  text += choice_of_weights(inspection, recipe);
  text += "\n[train.optimizer]\n" + recipe.optimizer + "\n" + schedule(recipe);
  return text;
}

}  // namespace trireme::inspect
