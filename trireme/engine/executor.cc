// SPDX-License-Identifier: Apache-2.0
// Compiles a graph: lowering, memory plan, binding; then runs the steps.
#include "trireme/engine/executor.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <mutex>
#include <set>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/base/parallel.h"
#include "trireme/engine/fusion.h"
#include "trireme/engine/kernels/arena.h"
#include "trireme/engine/kernels/cpu.h"
#include "trireme/engine/loss_entry.h"
#include "trireme/engine/lowering.h"
#include "trireme/engine/op_table.h"
#include "trireme/engine/program_layout.h"

namespace trireme::engine {
namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

ExecutorOptions with_threads(ExecutorOptions options) {
  if (options.threads <= 0) options.threads = usable_cores();
  return options;
}

struct BoundStep {
  std::string name;
  std::string category;
  std::vector<Run> runs;  // one, or one for each part
  bool by_part = false;
  std::vector<std::size_t> needs;  // slices that it, or what runs together with it, is the first to read
  std::vector<std::size_t> ready;
  std::size_t segment_end = 0;  // one past the last of the steps that run together, by part
};

struct Hooks {
  const GradientReady& ready;
  const ParametersNeeded& needed;
};

// Calls it, with a clock around it if op times are wanted.
template <class Call>
void timed(std::vector<OpTimes::Run>* runs, std::size_t step, float share, const Call& call) {
  if (runs == nullptr) return call();
  const double begin = now();
  call();
  runs->push_back({.step = static_cast<std::uint32_t>(step), .share = share, .begin = begin, .seconds = now() - begin});
}

// For each step the slices to be announced before it: those that are first read by its segment, of which it is the first step.
std::vector<std::vector<std::size_t>> first_reads(const Program& program, const ProgramLayout& layout) {
  std::vector<std::vector<std::size_t>> needs(program.steps.size());
  std::set<std::size_t> announced, ready;
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    for (const std::size_t slice : program.steps[i].reads) {
      ensure(!ready.contains(slice), "no step reads values whose gradient was ready before");
      if (announced.insert(slice).second) needs[layout.segments[i].first].push_back(slice);
    }
    for (const std::size_t slice : program.steps[i].ready) {
      ensure(announced.contains(slice), "a step reads values before their gradient is ready");
      ready.insert(slice);
    }
  }
  return needs;
}

}  // namespace

struct Executor::State {
  graph::Graph graph;
  ExecutorOptions options;
  Device device;
  AlgorithmChooser chooser;
  Lowering lowering;
  const LossEntry& loss;
  std::vector<std::unique_ptr<Lowered>> lowered;
  TensorId output = 0;
  BufferId loss_gradient = 0;
  Arena arena;
  std::vector<Part> parts;
  std::size_t lanes = 1;
  const float* prediction = nullptr;  // where the output lies
  std::vector<BoundStep> steps;
  std::size_t forward_steps = 0;  // the loss is step number forward_steps
  std::size_t forward_end = 0;    // one past it, and past what runs together with it
  CompileReport report;
  OpTable table;
  OpTimes* watched = nullptr;

  State(graph::Graph g, const ExecutorOptions& o)
      : graph(std::move(g)),
        options(with_threads(o)),
        chooser(device, o.algorithms, o.algorithm_cache),
        lowering(graph, options, device, chooser),
        loss(find_loss(graph.loss())) {}

  void compile();
  void lower();
  void emit_loss();
  void plan_and_bind();
  void run(std::size_t begin, std::size_t end, const Call& call, const Hooks& hooks, OpTimes* times = nullptr);
  void run_whole(std::size_t number, const Call& call, const Hooks& hooks, OpTimes* times);
  void run_by_part(std::size_t begin, std::size_t end, const Call& call, OpTimes* times);
  void run_part(std::size_t begin, std::size_t end, std::size_t part, const Call& call, OpTimes* times) const;
  void run_step(const Call& call, const Hooks& hooks, OpTimes* times);
  void name_ops();
  void add_penalty(std::size_t slice, const Call& call) const;
  void check(const BatchView& batch, const ModelView& model, bool with_targets) const;
};

void Executor::State::compile() {
  const double start = now();
  const ThreadScope scope(options.threads);
  lower();
  chooser.save();
  plan_and_bind();
  name_ops();
  report.seconds = now() - start;
  report.timed = chooser.timed();
  report.remembered = chooser.remembered();
  report.threads = options.threads;
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
  loss_gradient = training ? lowering.new_like(output) : logits;
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
                                   .class_weights = call.batch->class_weights,
                                   .gradient = gradient},
                                  *call.outcome);
                     if (training) std::fill(gradient + samples * outputs, gradient + lowering.batch() * outputs, 0.0F);
                   };
                 }});
}

void Executor::State::plan_and_bind() {
  Program program = lowering.take_program();
  parts = program.parts;
  lanes = program.lanes;
  const ProgramLayout layout = lay_out(program);
  arena = Arena(layout.bytes);
  report.activation_bytes = static_cast<std::int64_t>(layout.bytes);
  auto needs = first_reads(program, layout);
  const Addresses addresses = layout.addresses(arena.data());
  prediction = addresses.floats(lowering.tensor(output).buffer);
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    Step& step = program.steps[i];
    if (step.category == "loss") forward_steps = i;
    BoundStep bound{.name = std::move(step.name),
                    .category = std::move(step.category),
                    .by_part = step.bind_part != nullptr,
                    .needs = std::move(needs[i]),
                    .ready = std::move(step.ready),
                    .segment_end = layout.segments[i].last + 1};
    if (step.bind) bound.runs.push_back(step.bind(addresses));
    for (std::size_t part = 0; step.bind_part && part < parts.size(); ++part) bound.runs.push_back(step.bind_part(addresses, parts[part]));
    steps.push_back(std::move(bound));
  }
  while (forward_end <= forward_steps) forward_end = steps[forward_end].by_part ? steps[forward_end].segment_end : forward_end + 1;
}

void Executor::State::name_ops() {
  std::vector<NamedStep> named;
  for (std::size_t i = 0; i < steps.size(); ++i)
    named.push_back({steps[i].name, steps[i].category, i < forward_end ? Pass::forward : Pass::backward});
  table = make_op_table(graph, fuse(graph), named);
  table.lanes = lanes;
}

void Executor::State::run_step(const Call& call, const Hooks& hooks, OpTimes* times) {
  if (times != nullptr) times->start(lanes);
  const double start = now();
  run(0, forward_end, call, hooks, times);
  const double middle = now();
  call.outcome->forward_seconds = middle - start;
  run(forward_end, steps.size(), call, hooks, times);
  if (times == nullptr) return;
  times->begin = start;
  times->forward_end = middle;
  times->end = now();
}

void Executor::State::run(std::size_t begin, std::size_t end, const Call& call, const Hooks& hooks, OpTimes* times) {
  auto* const runs = times == nullptr ? nullptr : &times->lanes.front();
  for (std::size_t i = begin; i < end;) {
    const BoundStep& step = steps[i];
    if (hooks.needed && !step.needs.empty())
      timed(runs, table.waiting_for_values(), 1, [&] {
        for (const std::size_t slice : step.needs) hooks.needed(slice);
      });
    if (step.by_part) {
      run_by_part(i, step.segment_end, call, times);
      i = step.segment_end;
      continue;
    }
    run_whole(i, call, hooks, times);
    ++i;
  }
}

void Executor::State::run_whole(std::size_t number, const Call& call, const Hooks& hooks, OpTimes* times) {
  auto* const runs = times == nullptr ? nullptr : &times->lanes.front();
  const BoundStep& step = steps[number];
  timed(runs, number, 1, [&] { step.runs.front()(call); });
  for (const std::size_t slice : step.ready) {
    if (graph.parameters()[slice].l2 != 0) timed(runs, table.penalty(), 1, [&] { add_penalty(slice, call); });
    if (hooks.ready) timed(runs, table.handing_over(), 1, [&] { hooks.ready(slice); });
  }
}

// Every lane takes its parts through all the steps; a fault in one is thrown again when all are back.
void Executor::State::run_by_part(std::size_t begin, std::size_t end, const Call& call, OpTimes* times) {
  std::exception_ptr fault;
#pragma omp parallel num_threads(static_cast <int>(lanes))
  {
    const ThreadScope one(1);
    const auto lane = static_cast<std::size_t>(omp_get_thread_num());
    try {
      for (std::size_t part = 0; part < parts.size(); ++part) {
        if (parts[part].lane == lane) run_part(begin, end, part, call, times);
      }
    } catch (...) {  // must not leave a thread of OpenMP's; thrown again below
#pragma omp critical
      fault = std::current_exception();
    }
  }
  if (fault) std::rethrow_exception(fault);
}

void Executor::State::run_part(std::size_t begin, std::size_t end, std::size_t part, const Call& call, OpTimes* times) const {
  auto* const runs = times == nullptr ? nullptr : &times->lanes[parts[part].lane];
  const float share = 1.0F / static_cast<float>(lanes);
  for (std::size_t i = begin; i < end; ++i) timed(runs, i, share, [&] { steps[i].runs[part](call); });
}

void Executor::State::add_penalty(std::size_t slice, const Call& call) const {
  const Slice& s = graph.parameters()[slice];
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
  if (!batch.class_weights.empty()) {
    const std::int64_t outputs = graph.node(graph.output()).shape.count();
    require(loss.uses_labels && floats(batch.class_weights.size()) == outputs, "class weights", batch.class_weights.size(), outputs);
  }
  if (loss.uses_labels) return require(floats(batch.labels.size()) >= batch.size, "labels", batch.labels.size(), batch.size);
  require(floats(batch.targets.size()) >= batch.size * graph.node(graph.output()).shape.count(), "targets", batch.targets.size(),
          batch.size * graph.node(graph.output()).shape.count());
}

Executor::Executor(const graph::Graph& graph, const ExecutorOptions& options) {
  if (options.batch_size < 1) throw Error{invalid_argument, "batch_size = {}, must be at least 1", options.batch_size};
  state_ = std::make_unique<State>(graph, options);
  // One at a time in a process: of threads that compile at once, some got primitives without scratch memory from oneDNN's cache (a crash
  // in its matrix kernels; never with the cache off), and candidates that are timed at once measure each other.
  static std::mutex compiling;
  const std::lock_guard one_at_a_time(compiling);
  with_onednn("compiling the model", [&] { state_->compile(); });
}

Executor::~Executor() = default;
Executor::Executor(Executor&&) noexcept = default;
Executor& Executor::operator=(Executor&&) noexcept = default;

Outcome Executor::train_step(const BatchView& batch, const ModelView& model, const GradientReady& ready, const StatisticsExchange& exchange,
                             const ParametersNeeded& needed) {
  ensure(state_->options.mode == Mode::train, "the executor was compiled for training");
  state_->check(batch, model, true);
  ensure(static_cast<std::int64_t>(model.gradients.size()) == state_->graph.parameters().size(), "there is a gradient for each parameter");
  Outcome outcome{.samples = batch.size};
  const ThreadScope scope(state_->options.threads);
  const bool exchanges = exchange.sum != nullptr;
  ensure(!exchanges || exchange.samples >= batch.size, "a worker's samples are among those of all workers");
  const Call call{&batch, model, &outcome, exchanges ? &exchange : nullptr};
  state_->run_step(call, {ready, needed}, state_->watched);
  return outcome;
}

Outcome Executor::evaluate(const BatchView& batch, const ModelView& model) {
  ensure(state_->options.mode == Mode::evaluate, "the executor was compiled for evaluation");
  state_->check(batch, model, true);
  Outcome outcome{.samples = batch.size};
  const ThreadScope scope(state_->options.threads);
  state_->run(0, state_->steps.size(), {&batch, model, &outcome}, {{}, {}});
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
  const ThreadScope scope(state.options.threads);
  state.run(0, state.forward_steps, {&batch, model, &outcome}, {{}, {}});
  std::copy_n(state.prediction, count, output.begin());
}

std::vector<OpTime> Executor::profile_step(const BatchView& batch, const ModelView& model) {
  state_->check(batch, model, true);
  Outcome outcome{.samples = batch.size};
  const Call call{&batch, model, &outcome};
  const ThreadScope scope(state_->options.threads);
  OpTimes seconds;
  state_->run_step(call, {{}, {}}, &seconds);
  std::vector<OpTime> times;
  for (const BoundStep& step : state_->steps) times.push_back({step.name, step.category, 0});
  for (const auto& lane : seconds.lanes)
    for (const OpTimes::Run& run : lane)
      if (run.step < times.size()) times[run.step].seconds += run.share * run.seconds;
  return times;
}

void Executor::watch(OpTimes* times) { state_->watched = times; }
const OpTable& Executor::ops() const { return state_->table; }
const CompileReport& Executor::report() const { return state_->report; }

}  // namespace trireme::engine
