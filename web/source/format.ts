// SPDX-License-Identifier: Apache-2.0
// Numbers as people read them: 12.3 MB/s, 4.1 ms, 1 h 04 min.
import { known, type Maybe } from "./document";

export type Format = (value: Maybe) => string;

export const unknown = "–";
const gap = "\u00a0"; // a value and its unit stay on one line

const grouped = (value: number, digits: number) =>
  value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });

// About three digits that count, never an exponent for what is readable without.
function threeDigits(value: number): string {
  const size = Math.abs(value);
  if (size >= 100 || size === 0) return grouped(value, 0);
  if (size >= 10) return grouped(value, 1);
  if (size >= 1) return grouped(value, 2);
  if (size >= 1e-4) return String(Number(value.toPrecision(3)));
  return value.toExponential(1).replace("e-", "e−");
}

export const number: Format = (value) => (known(value) ? threeDigits(value) : unknown);
export const count: Format = (value) => (known(value) ? grouped(value, 0) : unknown);

export const percent: Format = (value) => {
  if (!known(value)) return unknown;
  const size = Math.abs(100 * value);
  return grouped(100 * value, size >= 99.95 || size === 0 ? 0 : size < 0.095 ? 2 : 1) + gap + "%";
};
// For accuracies, where a tenth of a percent matters.
export const accuracy: Format = (value) => (known(value) ? grouped(100 * value, 2) + gap + "%" : unknown);

function scaled(value: number, step: number, units: string[]): string {
  let power = 0;
  let rest = value;
  while (Math.abs(rest) >= 0.9995 * step && power + 1 < units.length) {
    rest /= step;
    ++power;
  }
  return (power === 0 ? grouped(rest, 0) : threeDigits(rest)) + gap + units[power];
}

export const bytes: Format = (value) => (known(value) ? scaled(value, 1000, ["B", "kB", "MB", "GB", "TB", "PB"]) : unknown);
export const bytesPerSecond: Format = (value) => (known(value) ? bytes(value) + "/s" : unknown);
export const flops: Format = (value) => (known(value) ? scaled(value, 1000, ["FLOP/s", "kFLOP/s", "MFLOP/s", "GFLOP/s", "TFLOP/s"]) : unknown);
export const perSecond: Format = (value) => (known(value) ? threeDigits(value) + "/s" : unknown);

// The time of a step or a part of it.
export const seconds: Format = (value) => {
  if (!known(value)) return unknown;
  const size = Math.abs(value);
  if (size >= 60) return duration(value);
  if (size >= 1 || size === 0) return (size === 0 ? "0" : threeDigits(value)) + gap + "s";
  if (size >= 0.9995e-3) return threeDigits(value * 1e3) + gap + "ms";
  return threeDigits(value * 1e6) + gap + "µs";
};

const two = (value: number) => String(value).padStart(2, "0");

// The time of a training.
export const duration: Format = (value) => {
  if (!known(value)) return unknown;
  const whole = Math.round(Math.abs(value));
  const days = Math.floor(whole / 86400);
  const hours = Math.floor(whole / 3600) % 24;
  const minutes = Math.floor(whole / 60) % 60;
  if (days > 0) return `${days}${gap}d ${hours}${gap}h`;
  if (hours > 0) return `${hours}${gap}h ${two(minutes)}${gap}min`;
  if (minutes > 0) return `${minutes}${gap}min ${two(whole % 60)}${gap}s`;
  return Math.abs(value) < 10 && value % 1 !== 0 ? `${value.toFixed(1)}${gap}s` : `${whole}${gap}s`;
};

// On axes: 0:30, 1:05:00.
export function elapsed(value: number): string {
  const sign = value < 0 ? "−" : "";
  const whole = Math.abs(value);
  if (whole % 1 !== 0 && whole < 60) return `${sign}0:${whole.toFixed(1).padStart(4, "0")}`;
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor(whole / 60) % 60;
  const rest = two(Math.floor(whole % 60));
  return sign + (hours > 0 ? `${hours}:${two(minutes)}:${rest}` : `${minutes}:${rest}`);
}

export function timeOfDay(time: Maybe): string {
  return known(time) ? new Date(time * 1000).toLocaleTimeString("en-GB") : unknown;
}
export function dateAndTime(time: Maybe): string {
  if (!known(time)) return unknown;
  const date = new Date(time * 1000);
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${date.toLocaleTimeString("en-GB")}`;
}

export const signedPercent: Format = (value) =>
  known(value) ? `${value > 0 ? "+" : value < 0 ? "−" : "±"}${percent(Math.abs(value))}` : unknown;

export const plural = (amount: number, one: string, many = one + "s") => `${count(amount)} ${amount === 1 ? one : many}`;

export const capitalized = (text: string) => (text ? text[0]!.toUpperCase() + text.slice(1) : text);

// On an axis 2.50 is 2.5, and 20.0 MB is 20 MB.
export const short = (text: string) => text.replace(/(\.\d*?)0+(?=\D|$)/, "$1").replace(/\.(?=\D|$)/, "");

// 740 ± 22, both to the same digit.
export function withSpread(value: number, spread: Maybe): string {
  const size = Math.abs(value);
  const digits = size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 4;
  return known(spread) && spread > 0 ? `${grouped(value, digits)} ± ${grouped(spread, digits)}` : number(value);
}
