// SPDX-License-Identifier: Apache-2.0
// Documents as Trireme makes them, with made-up numbers: a full run, one that has just begun, an old one, and a comparison.

import { curveErrors, evaluation, examples, numberEvaluation, pictureMistakes, rowMistakes } from "./samples.mjs";

// The same numbers every time.
function randomNumbers(seed) {
  let state = seed;
  return () => {
    state = (state * 1664525 + 1013904223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

const started = 1_794_800_000;
const length = 740; // seconds
const lostAt = 290;
const joinedAt = 340;
const switchAt = 480;

const times = (count, from = 0) => Array.from({ length: count }, (_, i) => started + from + ((length - from) * i) / (count - 1));
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const extent = (values) => ({ min: Math.min(...values), mean: mean(values), max: Math.max(...values) });

function curves(random) {
  const time = times(600, 4);
  const progress = time.map((_, i) => i / 600);
  const slow = (t) => t - started > lostAt && t - started < joinedAt;
  return {
    steps: {
      time,
      step: progress.map((p) => Math.round(p * 9370)),
      loss: progress.map((p) => 2.25 * Math.exp(-6 * p) + 0.21 + 0.16 * (random() - 0.5) * (1.3 - p)),
      accuracy: progress.map((p) => Math.min(0.995, 0.94 - 0.8 * Math.exp(-7 * p) + 0.035 * (random() - 0.5))),
      samples_per_second: time.map((t) => (slow(t) ? 9100 : t - started > switchAt ? 13900 : 12200) * (1 + 0.07 * (random() - 0.5))),
      learning_rate: progress.map((p) => (p < 0.05 ? 0.1 * (p / 0.05) : 0.1 * 0.5 * (1 + Math.cos(Math.PI * p)))),
    },
    epochs: {
      epoch: Array.from({ length: 10 }, (_, i) => i + 1),
      time: times(11).slice(1),
      training_loss: Array.from({ length: 10 }, (_, i) => 2.1 * Math.exp(-0.62 * (i + 1)) + 0.22),
      training_accuracy: Array.from({ length: 10 }, (_, i) => 0.935 - 0.5 * Math.exp(-0.6 * (i + 1))),
      validation_loss: Array.from({ length: 10 }, (_, i) => 1.9 * Math.exp(-0.55 * (i + 1)) + 0.29),
      validation_accuracy: Array.from({ length: 10 }, (_, i) => 0.912 - 0.45 * Math.exp(-0.6 * (i + 1))),
      seconds: new Array(10).fill(72),
      samples_per_second: new Array(10).fill(12100),
    },
  };
}

const partNames = ["input_wait", "forward", "backward", "exposed", "optimizer", "idle"];

function anatomy(scale, seconds, random, steps = 9370) {
  const step = seconds.reduce((sum, value) => sum + value, 0) * scale;
  const time = times(120, 5);
  const series = { time };
  partNames.forEach((name, i) => (series[name] = time.map(() => seconds[i] * scale * (0.85 + 0.3 * random()))));
  return {
    steps, step_seconds: step,
    parts: partNames.map((name, i) => ({ name, seconds: seconds[i] * scale, share: (seconds[i] * scale) / step, spread: seconds[i] * scale * 0.11 })),
    beside: [["read", 0.0021], ["decode", 0.0038], ["exchange", 0.0127]].map(([name, value]) => ({ name, seconds: value * scale, share: (value * scale) / step })),
    series,
  };
}

function node(number, random) {
  const time = times(120, 5);
  const rate = [3600, 3550, 2300, 3450][number];
  const parts = [[0.0006, 0.0061, 0.0118, 0.0041, 0.0009, 0.0006], [0.0005, 0.006, 0.0121, 0.0042, 0.0009, 0.0007], [0.0007, 0.0092, 0.0127, 0.0011, 0.0009, 0.0004], [0.0005, 0.0062, 0.0119, 0.004, 0.0009, 0.001]][number];
  return {
    node: String(number), host: number < 2 ? "lab1" : "lab2", rank: number, duty: number === 0 ? "worker and server" : "worker", share: [0.28, 0.28, 0.17, 0.27][number],
    state: number === 3 ? "lost" : "training", steps: 9370 - 40 * number, samples: 330_000 + 1000 * number, samples_per_second: rate,
    memory_bytes: 412e6 + 9e6 * number, memory_max_bytes: 455e6, cores_used: 1.82 - 0.1 * number, bytes_sent: 31.4e9, bytes_received: 31.1e9,
    series: {
      time, cores_used: time.map(() => 1.8 + 0.2 * (random() - 0.5)), memory: time.map((_, i) => 300e6 + 1e6 * Math.min(i, 90)),
      sent_per_second: time.map(() => 42e6 * (1 + 0.2 * (random() - 0.5))), received_per_second: time.map(() => 41e6 * (1 + 0.2 * (random() - 0.5))),
      samples_per_second: time.map(() => rate * (1 + 0.12 * (random() - 0.5))),
    },
    anatomy: anatomy(1, parts, random),
  };
}

function machine(host, random) {
  const time = times(240);
  const series = {
    time, cpu_user: time.map((_, i) => (i < 3 ? 0.03 : 0.78 + 0.1 * (random() - 0.5))), cpu_system: time.map((_, i) => (i < 3 ? 0.01 : 0.09 + 0.03 * (random() - 0.5))),
    cpu_wait: time.map(() => 0.005 * random()), memory: time.map((_, i) => 3.1e9 + 8e6 * Math.min(i, 100)), network_in: time.map(() => 61e6 * (1 + 0.3 * (random() - 0.5))),
    network_out: time.map(() => 63e6 * (1 + 0.3 * (random() - 0.5))), loopback: time.map(() => 20e6 * random()), disk_read: time.map(() => 0), disk_write: time.map((_, i) => (i % 40 === 0 ? 22e6 : 2e4)),
    load: time.map(() => 3.6 + random()),
  };
  const summary = Object.fromEntries(["memory", "network_in", "network_out", "loopback", "load"].map((name) => [name, extent(series[name])]));
  summary.cpu = extent(series.cpu_user.map((value, i) => value + series.cpu_system[i]));
  return { host, cores: 4, memory_total_bytes: 16.7e9, series, summary, baseline: { cpu: 0.021, memory: 3.05e9, network_in: 2100, network_out: 1900 } };
}

const op = (name, category, pass, seconds, speed) => ({ name, category, pass, calls: 1, seconds, spread: seconds * 0.06, share: seconds / 0.0239, flops_per_second: speed, bytes: seconds * 9e9, bytes_per_second: 9e9 });

function ops() {
  const list = [];
  for (let i = 1; i <= 6; ++i) {
    list.push(op(`conv${i}`, "convolution", "forward", 0.0013 / i + 0.0002, 61e9), op(`conv${i}`, "convolution", "backward", 0.0026 / i + 0.0003, 54e9));
    list.push(op(`bn${i}`, "normalisation", "forward", 0.0002, null), op(`bn${i}`, "normalisation", "backward", 0.0004, null));
  }
  list.push(op("dense", "matrix product", "forward", 0.0004, 42e9), op("momentum", "optimizer", "update", 0.0009, 1.2e9));
  const categories = ["convolution", "normalisation", "matrix product", "optimizer"].map((category) => {
    const seconds = list.filter((entry) => entry.category === category).reduce((sum, entry) => sum + entry.seconds, 0);
    return { category, seconds, share: seconds / 0.0239, spread: seconds * 0.05 };
  });
  return { steps: 20, categories, ops: list };
}

const events = [
  { time: started, kind: "begun", title: "Begun", detail: "with 4 workers", step: 0 },
  { time: started + 2, kind: "joined", title: "4 nodes joined", detail: "on lab1, lab2", step: 0 },
  { time: started + 120, kind: "checkpoint", title: "Checkpoint", detail: "", step: 1520 },
  { time: started + 240, kind: "checkpoint", title: "Checkpoint", detail: "", step: 3040 },
  { time: started + lostAt, kind: "lost", title: "Node 3 lost", detail: "on lab2: killed by SIGKILL", step: 3672 },
  { time: started + joinedAt, kind: "joined", title: "Node 3 joined again", detail: "on lab2", step: 4100 },
  { time: started + switchAt, kind: "switch", title: "allreduce → ps:async", detail: "as the plan says, in 0.14 s", step: 6080 },
  { time: started + 600, kind: "checkpoint", title: "Checkpoint", detail: "", step: 7600 },
];

const settings = Array.from({ length: 34 }, (_, i) => ({ key: `train.setting_${i}`, value: i % 3 === 0 ? `"text ${i}"` : String(i * 7), origin: i % 4 === 0 ? "job.toml:12" : "default" }));

export function fullRun() {
  const random = randomNumbers(7);
  const one = machine("lab1", random);
  const two = machine("lab2", random);
  const together = machine(undefined, random);
  together.cores = 8;
  together.memory_total_bytes = 33.4e9;
  return {
    version: 1,
    run: {
      name: "fashion_resnet-20261115-101320", directory: "/home/lena/runs/fashion_resnet-20261115-101320", job: "fashion_resnet", model: "resnet20", data: "fashion-mnist", strategy: "ps:async",
      plan: "allreduce; ps:async at 384000 samples", parameters: 272_474, batch_size: 64, epochs: 10, samples: 60_000, seed: 1, workers: 4, threads: 2, trireme: "0.1.0", host: "lab1", started, ended: null, state: "running", config: settings,
    },
    progress: { step: 7604, epoch: 9, epochs: 10, samples_seen: 486_656, samples_total: 600_000, fraction: 0.811, samples_per_second: 13_870, seconds_left: 172 },
    result: { training_accuracy: 0.9312, training_loss: 0.2251, accuracy: 0.9083, loss: 0.3012, measured_on: "validation", seconds: 740, training_seconds: 733, switch_seconds: 0.14 },
    curves: curves(random),
    nodes: [0, 1, 2, 3].map((number) => node(number, random)),
    machines: [one, two], cluster: together,
    anatomy: anatomy(1, [0.0006, 0.0067, 0.0121, 0.0035, 0.0009, 0.0007], random),
    staleness: { histogram: [120, 410, 980, 1630, 720, 310, 90, 22, 6, 1], mean: 2.87, max: 9 },
    servers: [{ server: "0", pushes: 4289, dropped: 3, busy_share: 0.41, held_seconds: 0.8, bytes_in: 4.6e9, bytes_out: 4.6e9 }],
    ops: ops(), events: [...events],
    limit: { kind: "compute", sentence: "Computing took 79 % of a step: forward 27 % and backward 49 %. Node 2 was slower than the others by 34 % and they waited for it." },
    predictions: [
      { change: "twice the bandwidth", step_seconds: 0.0231, difference: -0.057, sentence: "With twice the bandwidth a step would take 23.1 ms, 5.7 % less." },
      { change: "half the latency", step_seconds: 0.0242, difference: -0.013, sentence: "" },
      { change: "eight nodes instead of four", step_seconds: 0.0158, difference: -0.355, sentence: "" },
      { change: "one node less", step_seconds: 0.0301, difference: 0.23, sentence: "" },
      { change: "ten nodes more", step_seconds: null, difference: null, sentence: "ten nodes more: can't be predicted; no such network was measured." },
      { change: "a faster disk", step_seconds: null, difference: null, sentence: "a faster disk: can't be predicted; no such network was measured." },
    ],
    traffic: { measured_bytes_per_step: 1_651_000, model_bytes_per_step: 1_634_844, ratio: 1.0099, model: "all-reduce by ring: 2 (n − 1) / n × 4 bytes × parameters for each worker" },
    warnings: ["The clock of lab2 jumped by 0.4 s at 10:18; times of its steps around it may be wrong."],
  };
}

export function finishedRun() {
  const document = fullRun();
  Object.assign(document.run, { state: "completed", ended: started + length });
  Object.assign(document.progress, { fraction: 1, epoch: 10, step: 9370, seconds_left: 0 });
  document.result.measured_on = "test";
  document.events.push({ time: started + length, kind: "end", title: "Completed", detail: "", step: 9370 });
  document.warnings = [];
  Object.assign(document, { evaluation: evaluation(10), mistakes: pictureMistakes(32), examples: examples(16) });
  return document;
}

export const begunRun = () => ({
  version: 1,
  run: { name: "mnist_mlp-20261116-090000", model: "mlp", data: "mnist", strategy: "allreduce", workers: 2, batch_size: 128, epochs: 3, started, ended: null, state: "running", config: [] },
  progress: { step: 0, epoch: null, epochs: 3, samples_seen: 0, samples_total: 180_000, fraction: 0, samples_per_second: null, seconds_left: null },
  result: {}, curves: { steps: { time: [], loss: [] }, epochs: {} }, nodes: [], machines: [], cluster: null, anatomy: null, staleness: null, servers: [], ops: null, events: [], limit: null, predictions: [], traffic: null, warnings: [],
});

// Of a Trireme that knew no telemetry, and died; its name is as bad as names can be.
export function oldRun() {
  const { curves } = fullRun();
  return { version: 1, run: { name: "</script><img src=x onerror=alert(1)> <!-- old", state: "died", started, model: "mlp" }, progress: { fraction: 0.4, step: 200 }, curves: { steps: { time: curves.steps.time, loss: curves.steps.loss } } };
}

export function comparison() {
  const runs = ["ps:async", "allreduce", "allreduce"].map((strategy, i) => {
    const document = finishedRun();
    document.run.name = `cifar_${strategy.replace(":", "_")}_${i + 1}`;
    document.run.strategy = strategy;
    for (const name of ["validation_loss", "validation_accuracy", "training_loss"]) document.curves.epochs[name] = document.curves.epochs[name].map((value) => value * (1 + 0.04 * i));
    return document;
  });
  return {
    version: 1, runs,
    tables: [
      { title: "Results", columns: ["Strategy", "Batch", "Accuracy", "Seconds", "Difference"], rows: [["ps:async", 128, "90.83 % ± 0.21", 740.2, "–"], ["allreduce", 128, "91.02 % ± 0.18", 688.1, "−7.0 %"], ["allreduce", 256, "90.40 % ± 0.30", 601.9, "−18.7 %"]], note: "Means and standard deviations over 3 seeds." },
      { title: "Resources", columns: ["Strategy", "CPU", "Memory", "Network out"], rows: [["ps:async", "86.1 %", "3.9 GB", "63.0 MB/s"], ["allreduce", "88.4 %", "3.7 GB", "58.2 MB/s"]] },
    ],
    parity: [{ severity: "warning", text: "The runs have learning rates of 0.1 and 0.2 at batch sizes of 128 and 256." }, { severity: "note", text: "All runs have the same definition of the loss." }],
    figures: [
      { title: "Time to the end", kind: "bars", x: ["batch 128", "batch 256"], series: [{ name: "ps:async", values: [740, 655], spread: [22, 18] }, { name: "allreduce", values: [688, 602], spread: [9, 14] }], y_title: "seconds" },
      { title: "Speed-up by workers", kind: "lines", x: [1, 2, 4, 8], series: [{ name: "allreduce", values: [1, 1.92, 3.6, 6.4] }, { name: "ps:async", values: [1, 1.85, 3.7, 6.9] }], y_title: "times as fast as one worker" },
    ],
  };
}

// What `trireme dashboard` of a folder shows: live ones first, then newest first, one without a record and one of a regression.
export function folder() {
  const curve = (epochs, shift, isClass = true) => ({
    epoch: Array.from({ length: epochs }, (_, i) => i + 1),
    training_loss: Array.from({ length: epochs }, (_, i) => 1.9 * Math.exp(-0.5 * (i + 1)) + 0.2 + shift),
    training_accuracy: Array.from({ length: epochs }, () => null),
    loss: Array.from({ length: epochs }, (_, i) => 1.7 * Math.exp(-0.45 * (i + 1)) + 0.28 + shift),
    accuracy: Array.from({ length: epochs }, (_, i) => (isClass ? 0.92 - shift - 0.5 * Math.exp(-0.6 * (i + 1)) : null)),
  });
  const entry = (number, outcome, more = {}) => {
    const isOver = outcome === "finished";
    const epochs = isOver ? 10 : 3 + (number % 5);
    const one = curve(epochs, 0.012 * number);
    return {
      name: `fashion_cnn-202611${String(28 - number).padStart(2, "0")}-10132${number % 10}`, directory: "/home/lena/runs/x", outcome, reason: isOver ? "completed" : "",
      started: started - 86400 * number, ended: null, job: "fashion_cnn", model: number % 3 === 0 ? "resnet20" : "mnist_cnn", data: "fashion_mnist",
      strategy: number % 2 === 0 ? "allreduce" : "local", workers: number % 2 === 0 ? 4 : 1, host: "lab1", epochs_done: epochs, epochs: 10, step: 469 * epochs,
      seconds: 37 * epochs, samples_per_second: 1600, loss: one.loss.at(-1), accuracy: one.accuracy.at(-1), measured_on: "validation",
      best_loss: one.loss.at(-1), best_accuracy: one.accuracy.at(-1), best_epoch: epochs, note: "", curve: one, ...more,
    };
  };
  const outcomes = ["running", "finished", "finished", "stopped", "failed", "finished", "killed", "finished", "finished", "finished", "finished", "finished"];
  const entries = outcomes.map((outcome, i) => entry(i, outcome));
  entries[1].note = "the one for the talk; <b>twice</b> the batch";
  const none = { model: "", data: "", strategy: "", workers: null, started: null, loss: null, accuracy: null, best_loss: null, best_accuracy: null, best_epoch: null, epochs: null, epochs_done: 0, seconds: 0, curve: { epoch: [], loss: [] } };
  Object.assign(entries[6], none);
  const regression = curve(10, 0.1, false);
  Object.assign(entries[7], { model: "spectra_net", data: "fits", curve: regression, accuracy: null, best_accuracy: null, loss: regression.loss.at(-1), best_loss: regression.loss.at(-1) });
  return { version: 1, folder: "/home/lena/runs", entries };
}

const errors = (name, mistakes, scores) => ({ version: 1, errors_of: name, directory: `runs/${name}/checkpoints/${scores.checkpoint}`, data: "some data", evaluation: scores, mistakes });

export const documents = { full: fullRun(), finished: finishedRun(), begun: begunRun(), old: oldRun(), comparison: comparison(), folder: folder(), none: { version: 1, folder: "/home/lena/runs", entries: [] },
  errors: errors("hundred-20261116-090000", pictureMistakes(60), evaluation(100)), rows: errors("iris-20261116-090000", rowMistakes(), evaluation(3)),
  numbers: errors("redshift-20261116-090000", curveErrors(), numberEvaluation()) };
