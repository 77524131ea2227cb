// SPDX-License-Identifier: Apache-2.0
// The documents that the page shows. Everything may be missing or null: a run may have just begun, or be older than its telemetry.

export type Maybe = number | null | undefined;
export type Values = Maybe[];
export type Series = Record<string, Values | undefined>;

export interface ConfigRow { key: string; value: unknown; origin?: string }

export interface Run {
  name?: string; directory?: string; job?: string; model?: string; data?: string; strategy?: string; plan?: string;
  parameters?: Maybe; batch_size?: Maybe; epochs?: Maybe; samples?: Maybe; seed?: Maybe; workers?: Maybe; threads?: Maybe;
  trireme?: string; host?: string; started?: Maybe; ended?: Maybe; state?: string; config?: ConfigRow[];
}

export interface Progress {
  step?: Maybe; epoch?: Maybe; epochs?: Maybe; samples_seen?: Maybe; samples_total?: Maybe; fraction?: Maybe;
  samples_per_second?: Maybe; seconds_left?: Maybe; skipped_steps?: Maybe;
}

export interface Result {
  training_accuracy?: Maybe; training_loss?: Maybe; accuracy?: Maybe; loss?: Maybe; measured_on?: string | null;
  seconds?: Maybe; training_seconds?: Maybe; switch_seconds?: Maybe;
}

export interface Part { name: string; seconds?: Maybe; share?: Maybe; spread?: Maybe }
export interface Anatomy { steps?: Maybe; step_seconds?: Maybe; parts?: Part[]; beside?: Part[]; series?: Series }

export interface Node {
  node?: string | number; host?: string; rank?: Maybe; duty?: string; share?: Maybe; state?: string; steps?: Maybe; samples?: Maybe;
  samples_per_second?: Maybe; memory_bytes?: Maybe; memory_max_bytes?: Maybe; cores_used?: Maybe; bytes_sent?: Maybe;
  bytes_received?: Maybe; series?: Series; anatomy?: Anatomy | null;
}

export interface Extent { min?: Maybe; mean?: Maybe; max?: Maybe }
export interface Machine {
  host?: string; cores?: Maybe; memory_total_bytes?: Maybe; series?: Series; summary?: Record<string, Extent | undefined>;
  baseline?: Record<string, Maybe> | null;
}

export interface Server {
  server?: string | number; pushes?: Maybe; dropped?: Maybe; busy_share?: Maybe; held_seconds?: Maybe; bytes_in?: Maybe; bytes_out?: Maybe;
}

export interface Op {
  name: string; category?: string; pass?: string; calls?: Maybe; seconds?: Maybe; spread?: Maybe; share?: Maybe;
  flops_per_second?: Maybe; bytes?: Maybe; bytes_per_second?: Maybe;
}
export interface Category { category: string; seconds?: Maybe; share?: Maybe; spread?: Maybe }
export interface Ops { steps?: Maybe; categories?: Category[]; ops?: Op[] }

export interface RunEvent { time?: Maybe; kind: string; title?: string; detail?: string; step?: Maybe }
export interface Prediction { change: string; step_seconds?: Maybe; difference?: Maybe; sentence?: string }

export interface ClassScore { class: number; name: string; precision?: Maybe; recall?: Maybe; f1?: Maybe; support?: Maybe; answers?: Maybe }
export interface MeanScore { precision?: Maybe; recall?: Maybe; f1?: Maybe }
export interface NumberScore { mae?: Maybe; rmse?: Maybe; r2?: Maybe }
export interface Evaluation extends NumberScore {
  part?: string; checkpoint?: string; weights?: string; samples?: Maybe; of?: Maybe; loss?: Maybe; accuracy?: Maybe; top_k?: { k: number; accuracy: Maybe } | null;
  macro?: MeanScore; weighted?: MeanScore; classes?: ClassScore[]; confusion?: number[][] | null;
  confused?: { label: number; answer: number; count: number }[]; targets?: NumberScore[];
}

export interface ClassAnswer { class: number; name: string; probability?: Maybe }
export interface Sample {
  name: string; picture?: string; height?: number; width?: number; row?: [string, Maybe][]; curves?: Values[]; points?: number;
  truth?: ClassAnswer | Values; answers?: ClassAnswer[] | Values; error?: Maybe;
}
export interface Mistakes { part?: string; samples?: Maybe; of?: Maybe; wrong?: Maybe; shown?: Sample[] }
export interface Examples { augmented?: string; normalized?: string; samples?: Sample[] }

export interface RunDocument {
  version?: number;
  run?: Run;
  progress?: Progress;
  result?: Result;
  curves?: { steps?: Series; epochs?: Series };
  nodes?: Node[];
  machines?: Machine[];
  cluster?: Machine | null;
  anatomy?: Anatomy | null;
  staleness?: { histogram?: Values; mean?: Maybe; max?: Maybe } | null;
  servers?: Server[];
  ops?: Ops | null;
  events?: RunEvent[];
  limit?: { kind?: string; sentence?: string } | null;
  predictions?: Prediction[];
  traffic?: { measured_bytes_per_step?: Maybe; model_bytes_per_step?: Maybe; ratio?: Maybe; model?: string } | null;
  evaluation?: Evaluation | null;
  mistakes?: Mistakes | null;
  examples?: Examples | null;
  warnings?: unknown[];
}

// What `trireme errors` makes.
export interface ErrorsDocument { version?: number; errors_of: string; directory?: string; data?: string; evaluation?: Evaluation; mistakes?: Mistakes }

export interface Table { title?: string; columns?: string[]; rows?: unknown[][]; note?: string }
export interface FigureSeries { name?: string; values?: Values; spread?: Values }
export interface Figure { title?: string; kind?: string; x?: unknown[]; series?: FigureSeries[]; y_title?: string }

export interface ComparisonDocument {
  version?: number;
  runs?: RunDocument[];
  tables?: Table[];
  parity?: { severity?: string; text: string }[];
  figures?: Figure[];
}

// A run as a list shows it, and its curves by epochs; `loss` and `accuracy` are those of held-out samples.
export interface FolderEntry {
  name: string; outcome?: string; reason?: string; started?: Maybe; ended?: Maybe; job?: string; model?: string; data?: string;
  strategy?: string; workers?: Maybe; host?: string; epochs_done?: Maybe; epochs?: Maybe; step?: Maybe; seconds?: Maybe;
  samples_per_second?: Maybe; loss?: Maybe; accuracy?: Maybe; measured_on?: string; best_loss?: Maybe; best_accuracy?: Maybe;
  best_epoch?: Maybe; note?: string; curve?: Series;
}
export interface FolderDocument { version?: number; folder?: string; entries: FolderEntry[] }

export function isFolder(document: object): document is FolderDocument {
  return "entries" in document && Array.isArray((document as FolderDocument).entries);
}

export function isComparison(document: object): document is ComparisonDocument {
  return "runs" in document && Array.isArray((document as ComparisonDocument).runs);
}

export function isErrors(document: object): document is ErrorsDocument {
  return "errors_of" in document;
}

export const known = (value: Maybe): value is number => typeof value === "number" && Number.isFinite(value);

// Some number in it?
export const hasValues = (values: Values | undefined): values is Values => !!values && values.some(known);

export function last(values: Values | undefined): Maybe {
  for (let i = (values?.length ?? 0) - 1; i >= 0; --i) if (known(values![i])) return values![i];
  return null;
}

// Points that are smoothed to one.
export const smoothingWindow = (values: Values) => Math.max(1, Math.round(values.length / 50));

// Means of each point and those before it: an update out of step has few samples, and its accuracy means little.
export function smoothed(values: Values): Values {
  const size = smoothingWindow(values);
  return values.map((_, i) => {
    const recent = values.slice(Math.max(0, i + 1 - size), i + 1).filter(known);
    return recent.length ? recent.reduce((sum, value) => sum + value, 0) / recent.length : null;
  });
}
