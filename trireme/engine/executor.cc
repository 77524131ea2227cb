// SPDX-License-Identifier: Apache-2.0
// Compiles a graph: lowering, memory plan, binding; then runs the steps.
#include "trireme/engine/executor.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/base/parallel.h"
#include "trireme/engine/arena.h"
#include "trireme/engine/cpu.h"
#include "trireme/engine/fusion.h"
#include "trireme/engine/loss_entry.h"
#include "trireme/engine/lowering.h"
#include "trireme/engine/memory_plan.h"

namespace trireme::engine {
namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

struct BoundStep {
  std::string name;
  std::string category;
  Run run;
  std::vector<std::size_t> ready;
};

std::vector<BufferLife> lives_of(const Program& program) {
  std::vector<BufferLife> lives(program.buffer_bytes.size());
  std::vector<bool> seen(lives.size(), false);
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    for (const BufferId id : program.steps[i].uses) {
      if (!seen[id]) lives[id] = {.bytes = program.buffer_bytes[id], .first = i};
      seen[id] = true;
      lives[id].last = i;
    }
  }
  return lives;
}

}  // namespace

struct Executor::State {
  graph::Graph graph;
  ExecutorOptions options;
  int threads;
  Device device;
  AlgorithmChooser chooser;
  Lowering lowering;
  const LossEntry& loss;
  std::vector<std::unique_ptr<Lowered>> lowered;
  TensorId output = 0;
  BufferId loss_gradient = 0;
  Arena arena;
  const float* prediction = nullptr;  // where the output lies
  std::vector<BoundStep> steps;
  std::size_t forward_steps = 0;  // the loss is step number forward_steps
  CompileReport report;

  State(const graph::Graph& g, const ExecutorOptions& o)
      : graph(g),
        options(o),
        threads(o.threads > 0 ? o.threads : usable_cores()),
        chooser(device, o.algorithm_cache),
        lowering(graph, o.batch_size, o.mode, threads, device, chooser),
        loss(find_loss(graph.loss())) {}

  void compile();
  void lower();
  void emit_loss();
  void plan_and_bind();
  void run(std::size_t begin, std::size_t end, const Call& call, const GradientReady& ready);
  void add_penalty(std::size_t slice, const Call& call) const;
  void check(const BatchView& batch, const ModelView& model, bool with_targets) const;
};

void Executor::State::compile() {
  const double start = now();
  const ThreadScope scope(threads);
  lower();
  chooser.save();
  plan_and_bind();
  report.seconds = now() - start;
  report.timed = chooser.timed();
  report.remembered = chooser.remembered();
  report.threads = threads;
}

void Executor::State::lower() {
  const auto groups = fuse(graph);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    lowering.enter_group(g);
    lowered.push_back(find_op(graph.node(groups[g].leader).op->name).lower(groups[g], lowering));
    lowered.back()->forward(lowering);
  }
  output = lowering.plain(graph.output());
  emit_loss();
  if (options.mode == Mode::evaluate) return;
  lowering.gradients().add_term(output, loss_gradient);
  for (std::size_t g = groups.size(); g-- > 0;) {
    // A concatenation in pieces makes no tensors; other readers of its pieces may come yet.
    const auto& pieces = lowering.pieces(groups[g].last);
    if (pieces.size() == 1) lowering.collect_gradient(pieces.front());
    lowered[g]->backward(lowering);
    lowering.close_gradients(g);
  }
}

void Executor::State::emit_loss() {
  const bool training = options.mode == Mode::train;
  const BufferId logits = lowering.tensor(output).buffer;
  loss_gradient = training ? lowering.new_floats(lowering.floats(output)) : logits;
  lowering.emit({.name = graph.loss(),
                 .category = "loss",
                 .uses = {logits, loss_gradient},
                 .bind = [this, training, logits](const Addresses& at) -> Run {
                   const std::int64_t outputs = lowering.sample_floats(output);
                   float* gradient = training ? at.floats(loss_gradient) : nullptr;
                   return [=, this, x = at.floats(logits)](const Call& call) {
                     const std::int64_t samples = call.batch->size;
                     loss.compute({.samples = samples,
                                   .outputs = outputs,
                                   .prediction = x,
                                   .labels = call.batch->labels,
                                   .targets = call.batch->targets,
                                   .gradient = gradient},
                                  *call.outcome);
                     if (training) std::fill(gradient + samples * outputs, gradient + options.batch_size * outputs, 0.0F);
                   };
                 }});
}

void Executor::State::plan_and_bind() {
  Program program = lowering.take_program();
  const MemoryPlan plan = plan_memory(lives_of(program));
  arena = Arena(plan.bytes);
  report.activation_bytes = static_cast<std::int64_t>(plan.bytes);
  const Addresses addresses(arena.data(), plan.offsets);
  prediction = addresses.floats(lowering.tensor(output).buffer);
  for (Step& step : program.steps) {
    if (step.category == "loss") forward_steps = steps.size();
    steps.push_back({std::move(step.name), std::move(step.category), step.bind(addresses), std::move(step.ready)});
  }
}

void Executor::State::run(std::size_t begin, std::size_t end, const Call& call, const GradientReady& ready) {
  for (std::size_t i = begin; i < end; ++i) {
    const BoundStep& step = steps[i];
    step.run(call);
    for (const std::size_t slice : step.ready) {
      add_penalty(slice, call);
      if (ready) ready(slice);
    }
  }
}

void Executor::State::add_penalty(std::size_t slice, const Call& call) const {
  const Slice& s = graph.parameters()[slice];
  if (s.l2 == 0) return;
  const float* w = call.model.parameters.data() + s.offset;
  float* g = call.model.gradients.data() + s.offset;
  call.outcome->penalty += s.l2 * lowering.flat_kernels().add_penalty(w, static_cast<float>(2 * s.l2), s.count, g);
}

void Executor::State::check(const BatchView& batch, const ModelView& model, bool with_targets) const {
  const auto require = [](bool fits, std::string_view what, std::size_t found, std::int64_t wanted) {
    if (!fits) throw Error{invalid_argument, "{}: {} given, {} needed", what, found, wanted};
  };
  const auto floats = [](std::size_t count) { return static_cast<std::int64_t>(count); };
  require(batch.size >= 1 && batch.size <= options.batch_size, "samples of a batch (compiled for at most)",
          static_cast<std::size_t>(std::max<std::int64_t>(batch.size, 0)), options.batch_size);
  require(batch.inputs.size() == graph.inputs().size(), "inputs of the model", batch.inputs.size(), floats(graph.inputs().size()));
  for (std::size_t i = 0; i < batch.inputs.size(); ++i) {
    const std::int64_t wanted = batch.size * graph.node(graph.inputs()[i]).shape.count();
    require(floats(batch.inputs[i].size()) >= wanted, "values of input '" + graph.node(graph.inputs()[i]).name + "'",
            batch.inputs[i].size(), wanted);
  }
  require(floats(model.parameters.size()) == graph.parameters().size(), "parameters", model.parameters.size(), graph.parameters().size());
  require(floats(model.states.size()) == graph.states().size(), "states", model.states.size(), graph.states().size());
  if (!with_targets) return;
  if (loss.uses_labels) return require(floats(batch.labels.size()) >= batch.size, "labels", batch.labels.size(), batch.size);
  require(floats(batch.targets.size()) >= batch.size * graph.node(graph.output()).shape.count(), "targets", batch.targets.size(),
          batch.size * graph.node(graph.output()).shape.count());
}

Executor::Executor(const graph::Graph& graph, const ExecutorOptions& options) {
  if (options.batch_size < 1) throw Error{invalid_argument, "batch_size = {}, must be at least 1", options.batch_size};
  state_ = std::make_unique<State>(graph, options);
  with_onednn("compiling the model", [&] { state_->compile(); });
}

Executor::~Executor() = default;
Executor::Executor(Executor&&) noexcept = default;
Executor& Executor::operator=(Executor&&) noexcept = default;

Outcome Executor::train_step(const BatchView& batch, const ModelView& model, const GradientReady& ready) {
  ensure(state_->options.mode == Mode::train, "the executor was compiled for training");
  state_->check(batch, model, true);
  ensure(static_cast<std::int64_t>(model.gradients.size()) == state_->graph.parameters().size(), "there is a gradient for each parameter");
  Outcome outcome{.samples = batch.size};
  const ThreadScope scope(state_->threads);
  state_->run(0, state_->steps.size(), {&batch, model, &outcome}, ready);
  return outcome;
}

Outcome Executor::evaluate(const BatchView& batch, const ModelView& model) {
  ensure(state_->options.mode == Mode::evaluate, "the executor was compiled for evaluation");
  state_->check(batch, model, true);
  Outcome outcome{.samples = batch.size};
  const ThreadScope scope(state_->threads);
  state_->run(0, state_->steps.size(), {&batch, model, &outcome}, {});
  for (const Slice& slice : state_->graph.parameters().slices()) {
    if (slice.l2 == 0) continue;
    double squares = 0;
    for (const float w : model.parameters.subspan(static_cast<std::size_t>(slice.offset), static_cast<std::size_t>(slice.count)))
      squares += static_cast<double>(w) * static_cast<double>(w);
    outcome.penalty += slice.l2 * squares;
  }
  return outcome;
}

void Executor::predict(const BatchView& batch, const ModelView& model, std::span<float> output) {
  State& state = *state_;
  ensure(state.options.mode == Mode::evaluate, "the executor was compiled for evaluation");
  state.check(batch, model, false);
  const std::int64_t count = batch.size * state.lowering.sample_floats(state.output);
  if (static_cast<std::int64_t>(output.size()) < count)
    throw Error{invalid_argument, "the output has room for {} values, {} are needed", output.size(), count};
  Outcome outcome;
  const ThreadScope scope(state.threads);
  state.run(0, state.forward_steps, {&batch, model, &outcome}, {});
  std::copy_n(state.prediction, count, output.begin());
}

std::vector<OpTime> Executor::profile_step(const BatchView& batch, const ModelView& model) {
  state_->check(batch, model, true);
  Outcome outcome{.samples = batch.size};
  const Call call{&batch, model, &outcome};
  const ThreadScope scope(state_->threads);
  std::vector<OpTime> times;
  for (std::size_t i = 0; i < state_->steps.size(); ++i) {
    const double start = now();
    state_->run(i, i + 1, call, {});
    times.push_back({state_->steps[i].name, state_->steps[i].category, now() - start});
  }
  return times;
}

const CompileReport& Executor::report() const { return state_->report; }

}  // namespace trireme::engine
