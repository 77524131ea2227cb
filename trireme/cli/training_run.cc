// SPDX-License-Identifier: Apache-2.0
// A training with its run directory.
#include "trireme/cli/training_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <optional>

#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/base/table.h"
#include "trireme/cli/algorithm_memory.h"
#include "trireme/cli/cache_directory.h"
#include "trireme/cli/data_lookup.h"
#include "trireme/cli/progress.h"
#include "trireme/data/data_sets.h"
#include "trireme/observe/event_file.h"
#include "trireme/observe/journal.h"
#include "trireme/train/job.h"
#include "trireme/train/recorder.h"
#include "trireme/train/run_directory.h"
#include "trireme/train/session.h"
#include "trireme/train/trainer.h"

namespace trireme::cli {
namespace {

// A job file for the run: what follows from the set's name will follow from it again, maybe on another machine.
std::string kept_config(const Config& config) {
  std::vector<train::Setting> settings = train::settings_of(config);
  std::erase_if(settings, [](const train::Setting& setting) { return setting.origin.starts_with(kFromSetName); });
  return train::job_file_of(settings);
}

train::RunDirectory run_directory(const TrainingRequest& request) {
  if (!request.resume.empty()) {
    auto directory = train::RunDirectory::open(request.resume);
    directory.lock();
    if (request.changed) write_file_atomically(directory.config(), kept_config(request.config));
    return directory;
  }
  auto directory = train::RunDirectory::create(request.base, request.title, std::chrono::system_clock::now());
  directory.lock();
  write_file_atomically(directory.config(), kept_config(request.config));
  lend_algorithms(directory.algorithms());
  return directory;
}

std::string samples_text(const data::DataSets& sets) {
  std::string text = with_thousands(sets.train->size());
  if (sets.validation != nullptr) text += fmt::format(" + {} validation", with_thousands(sets.validation->size()));
  if (sets.test != nullptr) text += fmt::format(" + {} test", with_thousands(sets.test->size()));
  return text;
}

std::string model_title(const Config& config) {
  const Config* name = config.at("model").find("name");
  return name == nullptr ? "layers" : name->text();
}

std::int64_t size_of(const std::shared_ptr<const data::Source>& samples) { return samples == nullptr ? 0 : samples->size(); }

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

class TrainingRun {
 public:
  TrainingRun(const TrainingRequest& request, const Console& console)
      : request_(request),
        console_(console),
        job_(train::job_from_config(request.config)),
        data_(data::open_data(job_.data, cache_directory())),
        directory_((train::check_fit(job_.graph, data_.train->format(), job_.data.title()), run_directory(request))),
        trainer_({.job = job_, .data = data_, .clock = clock_}, directory_.algorithms()),
        checkpoints_(directory_.checkpoints(), job_.graph),
        journal_(directory_.journal()),
        events_(directory_.events()) {
    return_algorithms(directory_.algorithms());
  }

  int run(const std::atomic<int>& stop) {
    for (const std::string& warning : data_.warnings) console_.err << "trireme: warning: " << warning << "\n";
    console_.out << beginning() << std::flush;
    begin();
    Progress progress(console_.out, clock_,
                      {.terminal = request_.terminal, .epochs = job_.train.epochs, .classes = data_.train->format().classes > 0});
    train::Recorder recorder(journal_, events_);
    train::Observers observers({&progress, &recorder});
    train::Session session(trainer_, checkpoints_, clock_);
    try {
      return finish(session.run(observers, {.checkpoint_seconds = job_.train.checkpoint_seconds, .tests = data_.test != nullptr}, stop),
                    stop);
    } catch (const Error& error) {
      end("failed");
      throw;
    }
  }

 private:
  std::string beginning() const {
    const engine::CompileReport& report = trainer_.compile_report();
    return fmt::format("{} parameters, {} samples of {}, batch size {}, {} {}; compiled in {:.1f} s\nrun directory {}\n",
                       with_thousands(job_.graph.parameters().size()), samples_text(data_), job_.data.title(), job_.train.batch_size,
                       report.threads, report.threads == 1 ? "thread" : "threads", report.seconds, directory_.path().string());
  }

  void begin() {
    if (!request_.resume.empty()) return resume();
    journal_.write("run", {{"trireme", std::string(TRIREME_VERSION)},
                           {"job", request_.title},
                           {"model", model_title(request_.config)},
                           {"data", job_.data.title()},
                           {"parameters", job_.graph.parameters().size()},
                           {"samples", data_.train->size()},
                           {"validation_samples", size_of(data_.validation)},
                           {"test_samples", size_of(data_.test)},
                           {"batch_size", job_.train.batch_size},
                           {"epochs", job_.train.epochs},
                           {"threads", std::int64_t{trainer_.compile_report().threads}},
                           {"seed", job_.train.seed},
                           {"host", host_name()}});
    events_.text("config", "```toml\n" + read_file(directory_.config()) + "```");
  }

  void resume() {
    auto loaded = checkpoints_.load_newest();
    if (!loaded) {
      console_.out << "no checkpoint yet: starting from the beginning\n";
      return;
    }
    for (const std::string& warning : loaded->warnings) console_.err << "trireme: warning: " << warning << "\n";
    const train::Cursor& cursor = loaded->checkpoint.cursor;
    console_.out << fmt::format("continuing after step {} (epoch {}) from {}\n", cursor.step, cursor.epoch + 1, loaded->directory.string());
    journal_.write("resume", {{"step", cursor.step},
                              {"epoch", cursor.epoch + 1},
                              {"samples_seen", cursor.samples_seen},
                              {"checkpoint", loaded->directory.filename().string()}});
    events_.restart(cursor.epoch + 1);  // epochs from here on are told anew
    trainer_.restore(std::move(loaded->checkpoint));
  }

  int finish(const train::SessionResult& result, const std::atomic<int>& stop) {
    const train::Cursor& cursor = trainer_.cursor();
    if (result.ending == train::Ending::interrupted) {
      journal_.write("interrupt", {{"signal", std::int64_t{stop}}, {"step", cursor.step}});
      end(train::name_of(result.ending));
      console_.out << fmt::format("{}interrupted after step {}; the checkpoint is written. Continue with\n  trireme train --resume {}\n",
                                  request_.terminal ? "\r\033[K" : "", cursor.step, directory_.path().string());
      return 128 + stop;
    }
    end(train::name_of(result.ending));
    console_.out << ending(result);
    return 0;
  }

  std::string ending(const train::SessionResult& result) const {
    const train::Cursor& cursor = trainer_.cursor();
    std::string text;
    if (result.ending == train::Ending::stopped_early)
      text += fmt::format("stopped early: the validation {} has not been better since epoch {}\n", job_.early_stopping.watch,
                          cursor.best_epoch + 1);
    text += fmt::format("trained {} {} in {:.1f} s, {:.0f} samples/s", cursor.epoch, cursor.epoch == 1 ? "epoch" : "epochs",
                        cursor.train_seconds, static_cast<double>(cursor.samples_seen) / std::max(cursor.train_seconds, 1e-9));
    if (result.test.samples > 0) text += fmt::format("; test loss {:.4f}", result.test.loss);
    if (result.test.samples > 0 && data_.train->format().classes > 0)
      text += fmt::format(", accuracy {:.2f} %", 100 * result.test.accuracy);
    text += fmt::format("\nmodel    {}\nrecords  {}\n", (result.checkpoint / "model.safetensors").string(), directory_.path().string());
    return text;
  }

  void end(std::string_view reason) {
    const train::Cursor& cursor = trainer_.cursor();
    journal_.write("end",
                   {{"epochs", cursor.epoch}, {"steps", cursor.step}, {"seconds", cursor.train_seconds}, {"reason", std::string(reason)}});
    journal_.sync();
    events_.flush();
  }

  const TrainingRequest& request_;
  const Console& console_;
  SteadyClock clock_;
  train::Job job_;
  data::DataSets data_;
  train::RunDirectory directory_;
  train::Trainer trainer_;
  train::CheckpointStore checkpoints_;
  observe::Journal journal_;
  observe::EventFile events_;
};

}  // namespace

int run_training(const TrainingRequest& request, const Console& console, const std::atomic<int>& stop) {
  return TrainingRun(request, console).run(stop);
}

}  // namespace trireme::cli
