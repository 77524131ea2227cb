// SPDX-License-Identifier: Apache-2.0
// Name, state, progress and the numbers one looks for first.
import type { Context } from "./context";
import { known, last, smoothed, type Maybe } from "./document";
import { h, type Child } from "./dom";
import { accuracy, capitalized, count, duration, number, perSecond, percent, plural, timeOfDay } from "./format";

const stateLooks: Record<string, string> = { running: "live", completed: "good", "stopped early": "good", interrupted: "warn", failed: "bad", died: "bad" };

export const statePill = (state: string | undefined): HTMLElement =>
  h("span", { class: `pill ${stateLooks[state ?? ""] ?? ""}` }, capitalized(state ?? "unknown"));

const tile = (title: string, value: string, note?: Child): HTMLElement =>
  h("div", { class: "tile" }, h("dt", {}, title), h("dd", {}, value, note ? h("small", {}, note) : null));

function subtitle({ document: { run = {} } }: Context): string {
  const parts = [
    run.model && run.data ? `${run.model} on ${run.data}` : run.model ?? run.data,
    run.strategy,
    known(run.workers) ? plural(run.workers, "worker") : null,
    known(run.parameters) ? `${count(run.parameters)} parameters` : null,
    known(run.batch_size) ? `batch size ${count(run.batch_size)}` : null,
  ];
  return parts.filter(Boolean).join(" · ");
}

function progressBar({ document: { progress = {} }, running }: Context): Child {
  if (!known(progress.fraction)) return running ? h("p", { class: "missing" }, "No step is done yet.") : null;
  const share = Math.min(1, Math.max(0, progress.fraction));
  const left = !running ? "" : known(progress.seconds_left) ? `about ${duration(progress.seconds_left)} left` : share === 0 ? "waiting for the first step" : "";
  return h("div", { class: "progress" },
    h("div", { class: "track", role: "progressbar", "aria-label": "Progress of the training", "aria-valuemin": 0, "aria-valuemax": 100, "aria-valuenow": Math.round(100 * share) },
      h("div", { class: "fill", style: { width: `${100 * share}%` } })),
    h("div", { class: "progress-text" }, h("b", {}, percent(share)), h("span", {}, left)));
}

function passed({ document: { run = {}, result = {}, curves } }: Context): Maybe {
  const end = run.ended ?? last(curves?.steps?.["time"]);
  return known(run.started) && known(end) ? end - run.started : result.seconds;
}

function score(context: Context): Child[] {
  const { result = {}, curves } = context.document;
  const where = result.measured_on ?? "validation";
  const loss = result.loss ?? last(curves?.epochs?.["validation_loss"]);
  const hits = result.accuracy ?? last(curves?.epochs?.["validation_accuracy"]);
  const lately = last(smoothed(curves?.steps?.["loss"] ?? []));
  const isWhole = !context.running && known(result.training_loss);
  const trainingLoss = isWhole ? result.training_loss : lately;
  return [
    known(hits) ? tile("Accuracy", accuracy(hits), where) : null,
    known(loss) ? tile("Loss", number(loss), where) : null,
    known(trainingLoss) ? tile("Training loss", number(trainingLoss), isWhole ? "last epoch" : "lately") : null,
  ];
}

// Of a run that is over the mean says more than the last steps.
function throughput({ document: { progress = {}, result = {}, curves }, running }: Context): Child {
  const isMean = !running && known(progress.samples_seen) && known(result.training_seconds) && result.training_seconds > 0;
  const rate = isMean ? progress.samples_seen! / result.training_seconds! : progress.samples_per_second ?? last(curves?.steps?.["samples_per_second"]);
  return known(rate) ? tile("Throughput", perSecond(rate), isMean ? "samples, on average" : "samples") : null;
}

export function header(context: Context): Child {
  const { run = {}, progress = {} } = context.document;
  const epochs = progress.epochs ?? run.epochs;
  return [
    h("div", { class: "title" }, h("h1", {}, run.name ?? run.job ?? "A run without a name"), statePill(run.state)),
    h("p", { class: "subtitle" }, subtitle(context)),
    progressBar(context),
    h("dl", { class: "tiles" },
      known(progress.epoch) ? tile("Epoch", count(progress.epoch), known(epochs) ? `of ${count(epochs)}` : null) : null,
      known(progress.step) ? tile("Step", count(progress.step)) : null,
      known(progress.skipped_steps) && progress.skipped_steps > 0 ? tile("Skipped steps", count(progress.skipped_steps), "not finite") : null,
      throughput(context),
      score(context),
      known(passed(context)) ? tile("Time", duration(passed(context)), known(run.started) ? `began ${timeOfDay(run.started).slice(0, 5)}` : null) : null),
  ];
}
