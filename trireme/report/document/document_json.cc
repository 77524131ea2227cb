// SPDX-License-Identifier: Apache-2.0
// A run document for programs and for the page.
#include "trireme/report/document/document_json.h"

#include <cmath>

#include "trireme/base/json.h"
#include "trireme/report/scores/evaluation_json.h"

namespace trireme::report {
namespace {

Json number(double value) {
  return std::isfinite(value) ? value == std::floor(value) && std::abs(value) < 1e15 ? Json(static_cast<std::int64_t>(value)) : Json(value)
                              : Json();
}

Json numbers(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(number(value));
  return list;
}

Json series_json(const Series& series) {
  Json json = Json::object();
  for (const auto& [name, values] : series.columns) json[name] = numbers(values);
  return json;
}

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json run_json(const RunFacts& run) {
  Json json{{"name", run.name},
            {"directory", run.directory},
            {"job", run.job},
            {"model", run.model},
            {"data", run.data},
            {"strategy", run.strategy},
            {"plan", run.plan},
            {"parameters", number(run.parameters)},
            {"batch_size", number(run.batch_size)},
            {"epochs", number(run.epochs)},
            {"samples", number(run.samples)},
            {"seed", number(run.seed)},
            {"workers", number(run.workers)},
            {"threads", number(run.threads)},
            {"trireme", run.trireme},
            {"host", run.host},
            {"started", number(run.started)},
            {"ended", number(run.ended)},
            {"state", run.state},
            {"config", Json::array()}};
  for (const ConfigRow& row : run.config) json["config"].push_back({{"key", row.key}, {"value", row.value}, {"origin", row.origin}});
  return json;
}

Json progress_json(const Progress& p) {
  return {{"step", number(p.step)},
          {"epoch", number(p.epoch)},
          {"epochs", number(p.epochs)},
          {"samples_seen", number(p.samples_seen)},
          {"samples_total", number(p.samples_total)},
          {"fraction", number(p.fraction)},
          {"samples_per_second", number(p.samples_per_second)},
          {"seconds_left", number(p.seconds_left)},
          {"skipped_steps", number(p.skipped_steps)}};
}

Json result_json(const Result& r) {
  return {{"training_accuracy", number(r.training_accuracy)},
          {"training_loss", number(r.training_loss)},
          {"accuracy", number(r.accuracy)},
          {"loss", number(r.loss)},
          {"measured_on", text_or_null(r.measured_on)},
          {"measured_samples", number(r.measured_samples)},
          {"penalty", number(r.penalty)},
          {"seconds", number(r.seconds)},
          {"training_seconds", number(r.training_seconds)},
          {"switch_seconds", number(r.switch_seconds)},
          {"interrupted_seconds", number(r.interrupted_seconds)},
          {"updates_per_epoch", number(r.updates_per_epoch)},
          {"highest_rate", number(r.highest_rate)},
          {"rate_per_sample", number(r.rate_per_sample)}};
}

Json anatomy_json(const Anatomy& anatomy) {
  Json json{{"steps", number(anatomy.steps)},
            {"step_seconds", number(anatomy.step_seconds)},
            {"parts", Json::array()},
            {"beside", Json::array()},
            {"series", series_json(anatomy.series)}};
  for (const AnatomyPart& part : anatomy.parts)
    json["parts"].push_back(
        {{"name", part.name}, {"seconds", number(part.seconds)}, {"share", number(part.share)}, {"spread", number(part.spread)}});
  for (const AnatomyPart& part : anatomy.beside)
    json["beside"].push_back({{"name", part.name}, {"seconds", number(part.seconds)}, {"share", number(part.share)}});
  return json;
}

Json node_json(const NodeFacts& node) {
  return {{"node", node.node},
          {"host", node.host},
          {"rank", number(node.rank)},
          {"duty", node.duty},
          {"share", number(node.share)},
          {"state", node.state},
          {"steps", number(node.steps)},
          {"samples", number(node.samples)},
          {"samples_per_second", number(node.samples_per_second)},
          {"memory_bytes", number(node.memory_bytes)},
          {"memory_max_bytes", number(node.memory_max_bytes)},
          {"cores_used", number(node.cores_used)},
          {"bytes_sent", number(node.bytes_sent)},
          {"bytes_received", number(node.bytes_received)},
          {"series", series_json(node.series)},
          {"anatomy", anatomy_json(node.anatomy)}};
}

Json machine_json(const MachineFacts& machine) {
  Json json{{"host", machine.host},
            {"cores", number(machine.cores)},
            {"memory_total_bytes", number(machine.memory_total_bytes)},
            {"series", series_json(machine.series)},
            {"summary", Json::object()},
            {"baseline", Json()}};
  for (const auto& [name, extent] : machine.summary)
    json["summary"][name] = {{"min", number(extent.min)}, {"mean", number(extent.mean)}, {"max", number(extent.max)}};
  if (machine.baseline)
    json["baseline"] = {{"cpu", number(machine.baseline->cpu)},
                        {"memory", number(machine.baseline->memory)},
                        {"network_in", number(machine.baseline->network_in)},
                        {"network_out", number(machine.baseline->network_out)}};
  return json;
}

Json servers_json(const std::vector<ServerFacts>& servers) {
  Json list = Json::array();
  for (const ServerFacts& s : servers)
    list.push_back({{"server", number(s.server)},
                    {"pushes", number(s.pushes)},
                    {"dropped", number(s.dropped)},
                    {"busy_share", number(s.busy_share)},
                    {"held_seconds", number(s.held_seconds)},
                    {"bytes_in", number(s.bytes_in)},
                    {"bytes_out", number(s.bytes_out)}});
  return list;
}

Json ops_json(const std::optional<OpProfile>& profile) {
  if (!profile) return {};
  Json json{{"steps", number(profile->steps)}, {"categories", Json::array()}, {"ops", Json::array()}};
  for (const OpCategory& c : profile->categories)
    json["categories"].push_back(
        {{"category", c.category}, {"seconds", number(c.seconds)}, {"share", number(c.share)}, {"spread", number(c.spread)}});
  for (const OpFacts& op : profile->ops)
    json["ops"].push_back({{"name", op.name},
                           {"category", op.category},
                           {"pass", op.pass},
                           {"calls", number(op.calls)},
                           {"seconds", number(op.seconds)},
                           {"spread", number(op.spread)},
                           {"share", number(op.share)},
                           {"flops_per_second", number(op.flops_per_second)},
                           {"bytes", number(op.bytes)},
                           {"bytes_per_second", number(op.bytes_per_second)}});
  return json;
}

Json events_json(const std::vector<Event>& events) {
  Json list = Json::array();
  for (const Event& e : events)
    list.push_back({{"time", number(e.time)}, {"kind", e.kind}, {"title", e.title}, {"detail", e.detail}, {"step", number(e.step)}});
  return list;
}

Json predictions_json(const std::vector<Prediction>& predictions) {
  Json list = Json::array();
  for (const Prediction& p : predictions)
    list.push_back(
        {{"change", p.change}, {"step_seconds", number(p.step_seconds)}, {"difference", number(p.difference)}, {"sentence", p.sentence}});
  return list;
}

Json staleness_json(const std::optional<Staleness>& staleness) {
  if (!staleness) return {};
  return {{"histogram", numbers(staleness->histogram)}, {"mean", number(staleness->mean)}, {"max", number(staleness->max)}};
}

Json traffic_json(const std::optional<Traffic>& traffic) {
  if (!traffic) return {};
  return {{"measured_bytes_per_step", number(traffic->measured_bytes_per_step)},
          {"model_bytes_per_step", number(traffic->model_bytes_per_step)},
          {"ratio", number(traffic->ratio)},
          {"model", traffic->model}};
}

Json samples_json(const std::string& text) {
  if (text.empty()) return {};
  Json json = parse_json_or_discard(text);
  return json.is_object() ? json : Json();
}

}  // namespace

Json json_of(const RunDocument& document) {
  Json json{{"version", 1},
            {"run", run_json(document.run)},
            {"progress", progress_json(document.progress)},
            {"result", result_json(document.result)}};
  json["curves"] = {{"steps", series_json(document.steps)}, {"epochs", series_json(document.epochs)}};
  json["nodes"] = Json::array();
  for (const NodeFacts& node : document.nodes) json["nodes"].push_back(node_json(node));
  json["machines"] = Json::array();
  for (const MachineFacts& machine : document.machines) json["machines"].push_back(machine_json(machine));
  json["cluster"] = machine_json(document.cluster);
  json["anatomy"] = anatomy_json(document.anatomy);
  json["staleness"] = staleness_json(document.staleness);
  json["servers"] = servers_json(document.servers);
  json["ops"] = ops_json(document.ops);
  json["events"] = events_json(document.events);
  json["limit"] = {{"kind", document.limit.kind}, {"sentence", document.limit.sentence}};
  json["predictions"] = predictions_json(document.predictions);
  json["traffic"] = traffic_json(document.traffic);
  json["evaluation"] = document.evaluation ? json_of(*document.evaluation) : Json();
  json["mistakes"] = samples_json(document.mistakes_json);
  json["examples"] = samples_json(document.examples_json);
  json["above_baseline"] = document.is_above_baseline;
  json["warnings"] = document.warnings;
  return json;
}

// What is no UTF-8 (a file name, a host) becomes a sign of replacement: a page must not fail for it.
std::string to_json(const RunDocument& document) { return json_of(document).dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace trireme::report
