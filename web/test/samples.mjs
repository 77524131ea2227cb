// SPDX-License-Identifier: Apache-2.0
// Made-up findings of a trained network: scores of classes, confident mistakes, and samples as pictures, rows and curves.
import { deflateSync } from "node:zlib";

function randomNumbers(seed) {
  let state = seed;
  return () => {
    state = (state * 1664525 + 1013904223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

// Of PNG; node has one of its own only since version 20.
function crc32(bytes) {
  let sum = -1;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; ++bit) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return ~sum >>> 0;
}

function chunk(kind, data) {
  const body = Buffer.concat([Buffer.from(kind), data]);
  const length = Buffer.alloc(4), sum = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

// A blob of a hue on another one.
function picture(random, size = 32) {
  const [x, y, radius] = [size * (0.3 + 0.4 * random()), size * (0.3 + 0.4 * random()), size * (0.15 + 0.2 * random())];
  const [inner, outer] = [0, 1].map(() => [0, 1, 2].map(() => Math.round(255 * random())));
  const rows = Array.from({ length: size }, (_, row) => Buffer.from([0, ...Array.from({ length: size }, (_, column) => (Math.hypot(column - x, row - y) < radius ? inner : outer)).flat()]));
  const header = Buffer.alloc(13);
  header.writeUInt32BE(size, 0);
  header.writeUInt32BE(size, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const png = Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), chunk("IHDR", header), chunk("IDAT", deflateSync(Buffer.concat(rows))), chunk("IEND", Buffer.alloc(0))]);
  return { picture: `data:image/png;base64,${png.toString("base64")}`, height: size, width: size };
}

const tenNames = ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"];

export function evaluation(classes, seed = 3) {
  const random = randomNumbers(seed);
  const name = (i) => (classes === 10 ? tenNames[i] : `kind of thing ${i}`);
  const confusion = Array.from({ length: classes }, (_, label) => Array.from({ length: classes }, (_, answer) =>
    label === answer ? 70 + Math.floor(25 * random()) : random() < 14 / classes ? Math.floor(12 * random() ** 3) : 0));
  const support = confusion.map((row) => row.reduce((sum, value) => sum + value, 0));
  const answers = confusion.map((_, i) => confusion.reduce((sum, row) => sum + row[i], 0));
  const list = confusion.map((row, i) => ({ class: i, name: name(i), precision: row[i] / answers[i], recall: row[i] / support[i], f1: (2 * row[i]) / (support[i] + answers[i]), support: support[i], answers: answers[i] }));
  const samples = support.reduce((sum, value) => sum + value, 0);
  const mean = (key, weight) => list.reduce((sum, one) => sum + one[key] * weight(one), 0) / list.reduce((sum, one) => sum + weight(one), 0);
  const means = (weight) => ({ precision: mean("precision", weight), recall: mean("recall", weight), f1: mean("f1", weight) });
  const confused = confusion.flatMap((row, label) => row.map((count, answer) => ({ label, answer, count }))).filter(({ label, answer, count }) => label !== answer && count > 0)
    .sort((a, b) => b.count - a.count).slice(0, 50);
  return { version: 1, part: "test", checkpoint: "step-00009370", samples, of: samples, seconds: 1.9, loss: 0.3012, accuracy: confusion.reduce((sum, row, i) => sum + row[i], 0) / samples,
    top_k: { k: 5, accuracy: 0.9971 }, macro: means(() => 1), weighted: means((one) => one.support), classes: list, confusion, confused };
}

const answer = (number, probability, names) => ({ class: number, name: names ? names[number] : String(number), probability });

function mistake(view, name, random, names) {
  const [label, first] = [Math.floor(10 * random()), Math.floor(10 * random())];
  const wrong = first === label ? (first + 1) % 10 : first;
  return { name, ...view, truth: answer(label, 0.004, names), answers: [answer(wrong, 0.985, names), answer((wrong + 3) % 10, 0.008, names), answer(label, 0.004, names)] };
}

const many = (count, make) => Array.from({ length: count }, (_, i) => make(i));

export function pictureMistakes(count) {
  const random = randomNumbers(11);
  return { part: "test", samples: 10_000, of: 10_000, wrong: 917, shown: many(count, (i) => mistake(picture(random), `cat/${1000 + i}.png`, random, tenNames)) };
}

export function examples(count) {
  const random = randomNumbers(5);
  return { augmented: "flip, pad 4 and crop", normalized: "standard", samples: many(count, (i) => ({ name: `dog/${i}.png`, ...picture(random), truth: answer(i % 10, undefined, tenNames) })) };
}

export function rowMistakes() {
  const random = randomNumbers(6);
  const row = () => ["sepal length", "sepal width", "petal length", "petal width"].map((name) => [name, Number((8 * random()).toPrecision(3))]);
  return { part: "validation", samples: 150, of: 150, wrong: 7, shown: many(7, (i) => mistake({ row: row() }, `#${i * 17}`, random)) };
}

// Numbers to predict, from spectra.
export function curveErrors() {
  const random = randomNumbers(8);
  const curve = () => many(240, (i) => Number((Math.sin(i / 17) + 2 * Math.exp(-(((i - 90) / 4) ** 2)) * random() + 0.3 * random()).toPrecision(4)));
  return { part: "test", samples: 800, of: 4000, wrong: null, shown: many(6, (i) => ({ name: `#${i}`, curves: [curve()], points: 3800, truth: [0.231 + i], answers: [1.9 - i], error: 2.78 })) };
}

export const numberEvaluation = () => ({ version: 1, part: "test", checkpoint: "step-00000200", samples: 800, of: 4000, seconds: 60, loss: 0.013, mae: 0.0712, rmse: 0.114, r2: 0.9312,
  targets: [{ mae: 0.05, rmse: 0.1, r2: 0.95 }, { mae: 0.09, rmse: 0.13, r2: null }] });
