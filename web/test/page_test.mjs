// SPDX-License-Identifier: Apache-2.0
// Opens the bundled page with made-up documents in headless Chromium:  node page_test.mjs page.html [folder for screenshots]
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Chromium, findChromium } from "./chromium.mjs";
import { documents } from "./fixtures.mjs";

const program = findChromium();
if (!program) {
  console.log("skipped: there is no chromium here (Debian's package chromium)");
  process.exit(77);
}

const here = dirname(fileURLToPath(import.meta.url));
const looks = readFileSync(join(here, "looks.js"), "utf8");
const page = readFileSync(process.argv[2], "utf8");
const axe = readFileSync(join(dirname(process.argv[2]), "node_modules", "axe-core", "axe.min.js"), "utf8");
const shots = process.argv[3];
const folder = mkdtempSync(join(tmpdir(), "trireme-page-"));

// What must be read on the page, and how many charts there are.
const expected = {
  full: { charts: 21, title: "fashion_resnet-20261115-101320", texts: ["Running", "81.1 %", "about 2 min 52 s left", "13,870/s", "90.83 %", "What limits this run", "Computing took 79 % of a step", "−35.5 %", "15.8 ms a step", "Ten nodes more, a faster disk: can't be predicted", "Waiting for input", "24.5 ms", "At the same time, in the background", "Node 3 lost", "worker and server", "412 MB", "41.0 %", "mean 2.87, at most 9", "16.7 GB of memory", "The clock of lab2 jumped", "convolution", "34 settings", "train.setting_33"] },
  finished: { charts: 21, title: "fashion_resnet-20261115-101320", texts: ["Completed", "What limited this run", "31.4 GB", "samples, on average", "What it learned", "Most frequent confusions", "taken for", "917 of 10,000 test samples", "8 more", "What the network sees", "with flip, pad 4 and crop"] },
  errors: { charts: 0, title: "Errors of hundred-20261116-090000", texts: ["Most confident mistakes", "36 more", "The 10 weakest of 100 classes", "Confusion matrix", "airplane"] },
  rows: { charts: 0, title: "Errors of iris-20261116-090000", texts: ["7 of 150 validation samples are answered wrongly", "#17", "98.5 %"] },
  numbers: { charts: 0, title: "Errors of redshift-20261116-090000", texts: ["Largest errors", "0.0712", "0.9312", "800 of 4,000 test samples"] },
  begun: { charts: 0, title: "mnist_mlp-20261116-090000", texts: ["Running", "waiting for the first step", "The curves begin with the first steps.", "The machines are measured once a second"] },
  old: { charts: 1, title: "</script><img src=x onerror=alert(1)> <!-- old", texts: ["Died", "40.0 %", "This run has no telemetry of its steps", "This run has no telemetry of its nodes."] },
  comparison: { charts: 4, title: "Comparison of 3 runs", texts: ["The runs have learning rates of 0.1 and 0.2", "90.83 % ± 0.21", "740 ± 22", "Speed-up by workers", "cifar_allreduce_2"] },
  folder: { charts: 3, title: "12 runs", texts: ["/home/lena/runs · 1 running", "by epochs", "fashion_cnn-20261128-101320", "the one for the talk; <b>twice</b> the batch", "allreduce, 4 nodes", "3/10", "90.68 % (10)", "0.399", "spectra_net"] },
  none: { charts: 0, title: "0 runs", texts: ["There is no run yet."] },
};

function fileOf(name) {
  const path = join(folder, `${name}.html`);
  writeFileSync(path, page.replace('id="document">null<', () => `id="document">${JSON.stringify(documents[name]).replaceAll("<", "\\u003c")}<`));
  return path;
}

// `innerText` has the non-breaking spaces of units; people write plain ones.
const textOf = (tab) => tab.evaluate("document.body.innerText.replaceAll('\\u00a0', ' ')");

// What axe-core finds fault with, as "rule: elements".
async function violations(tab) {
  await tab.evaluate(axe);
  return tab.evaluate(`axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => violations.map(({ id, nodes }) => id + ": " + nodes.slice(0, 3).map(({ target }) => target.join(" ")).join(", ")))`);
}

async function checkLooks(browser, name, width, dark) {
  const tab = await browser.open({ width, dark });
  await tab.go(`file://${fileOf(name)}`);
  const { charts, title, texts } = expected[name];
  await tab.until(`document.querySelectorAll("h1").length === 1 && document.querySelectorAll(".uplot").length >= ${charts}`);
  const where = `${name} at ${width} px, ${dark ? "dark" : "light"}`;
  assert.equal(await tab.evaluate("document.querySelector('h1').textContent"), title, where);
  assert.equal(await tab.evaluate("document.querySelectorAll('.uplot').length"), charts, `${where}: charts`);
  const text = await textOf(tab);
  for (const wanted of texts) assert.ok(text.includes(wanted), `${where}: '${wanted}' is not on the page`);
  assert.deepEqual(await tab.evaluate(looks), [], where);
  if (dark === (width === 400)) assert.deepEqual(await violations(tab), [], `${where}: axe`); // each theme and width once
  const isDark = await tab.evaluate("getComputedStyle(document.body).backgroundColor") === "rgb(16, 20, 26)";
  assert.equal(isDark, dark, `${where}: the theme`);
  if (shots) writeFileSync(join(shots, `${name}-${width}-${dark ? "dark" : "light"}.png`), await tab.screenshot());
  assert.deepEqual(tab.complaints, [], `${where}: the console`);
  assert.deepEqual(tab.requests.filter((url) => !url.startsWith("file://") && !url.startsWith("data:")), [], `${where}: requests`);
  await tab.close();
}

// The picture of a large matrix is read by pointer and keyboard.
async function checkMatrix(browser) {
  const tab = await browser.open({ width: 1280 });
  await tab.go(`file://${fileOf("errors")}`);
  await tab.until("document.querySelector('.matrix-picture canvas')?.width > 300");
  await tab.evaluate("document.querySelector('.matrix-picture').focus()");
  const reading = "document.querySelector('.reading').textContent.replaceAll('\u00a0', ' ')";
  for (let i = 0; i < 3; ++i) await tab.send("Input.dispatchKeyEvent", { type: "keyDown", key: "ArrowDown", code: "ArrowDown", windowsVirtualKeyCode: 40 });
  await tab.until(`${reading}.startsWith("kind of thing 2 taken for kind of thing 0: ")`);
  const { confusion, classes } = documents.errors.evaluation;
  await tab.evaluate("document.querySelector('.matrix-picture').scrollIntoView({ block: 'center' })");
  const box = await tab.evaluate("(() => { const b = document.querySelector('.matrix-picture canvas').getBoundingClientRect(); return { x: b.x + 0.425 * b.width, y: b.y + 0.425 * b.height }; })()");
  await tab.send("Input.dispatchMouseEvent", { type: "mouseMoved", ...box });
  await tab.until(`${reading}.startsWith("kind of thing 42 answered rightly: ${confusion[42][42]} of ${classes[42].support} ")`);
  // All classes are there once they are asked for.
  await tab.evaluate("[...document.querySelectorAll('details')].find((one) => one.innerText.includes('All 100 classes')).open = true");
  await tab.until("document.body.innerText.includes('kind of thing 99')");
  assert.deepEqual(tab.complaints, []);
  await tab.close();
}

async function checkHands(browser) {
  const tab = await browser.open({ width: 1280 });
  await tab.go(`file://${fileOf("full")}`);
  await tab.until("document.querySelectorAll('.uplot').length >= 21");
  // Arrow keys read a chart's values.
  await tab.evaluate("document.querySelector('.plot').focus()");
  const before = await tab.evaluate("document.querySelector('.legend').innerText");
  // One step says little: the legend has the mean of the last fiftieth of the curve.
  const recent = documents.full.curves.steps.loss.slice(-12);
  const mean = recent.reduce((sum, value) => sum + value, 0) / recent.length;
  assert.ok(Math.abs(parseFloat(before.match(/Training\s+([\d.]+)/)[1]) - mean) < 0.006, `${before}: the mean is ${mean}`);
  assert.ok(!before.includes("Each step"), before);
  for (let i = 0; i < 3; ++i) await tab.send("Input.dispatchKeyEvent", { type: "keyDown", key: "ArrowRight", code: "ArrowRight", windowsVirtualKeyCode: 39 });
  await tab.until(`document.querySelector('.legend').innerText !== ${JSON.stringify(before)}`);
  assert.match(await tab.evaluate("document.querySelector('.when').textContent"), /^0:\d\d/);
  // The pointer does so, in all charts of the same time at once.
  const box = await tab.evaluate("(() => { const b = document.querySelector('.u-over').getBoundingClientRect(); return { x: b.x + b.width / 2, y: b.y + b.height / 2 }; })()");
  await tab.send("Input.dispatchMouseEvent", { type: "mouseMoved", ...box });
  await tab.until("[...document.querySelectorAll('#learning .when')].every((when) => /^\\d+:\\d\\d/.test(when.textContent))");
  // What was folded away is drawn when it is opened.
  await tab.evaluate("[...document.querySelectorAll('details')].find((one) => one.innerText.includes('All numbers')).open = true");
  await tab.until("document.body.innerText.includes('(Exchange, submitted to finished)')");
  // The switch goes from the system's theme to light, then dark.
  for (const [label, theme] of [["light", "light"], ["dark", "dark"], ["auto", "light"]]) {
    await tab.evaluate("document.querySelector('button').click()");
    assert.equal(await tab.evaluate("document.querySelector('button').textContent"), `Theme: ${label}`);
    assert.equal(await tab.evaluate("document.documentElement.dataset.theme"), theme);
  }
  assert.deepEqual(tab.complaints, []);
  await tab.close();
}

// Runs are found, chosen and left out; a colour stays with its run.
async function checkChoices(browser) {
  const tab = await browser.open({ width: 1280 });
  await tab.go(`file://${fileOf("folder")}`);
  await tab.until("document.querySelectorAll('.uplot').length === 3");
  const rows = "document.querySelectorAll('table.data tbody tr').length";
  const legend = () => tab.evaluate("document.querySelector('.legend').innerText");
  const box = (name) => `document.querySelector('input[type=checkbox][aria-label$=${JSON.stringify(name)}]')`;
  assert.equal(await tab.evaluate(rows), 12);
  assert.equal(await tab.evaluate("document.querySelectorAll('input:checked').length"), 4);
  assert.equal(await tab.evaluate(`${box("fashion_cnn-20261122-101326")}.disabled`), true, "a run without an epoch has no curves");
  assert.equal(await tab.evaluate("document.querySelector('table.data a').getAttribute('href')"), "?run=fashion_cnn-20261128-101320");
  const color = `${box("fashion_cnn-20261126-101322")}.style.getPropertyValue("accent-color")`;
  const before = await tab.evaluate(color);
  await tab.evaluate(`${box("fashion_cnn-20261128-101320")}.focus()`);
  await tab.evaluate(`${box("fashion_cnn-20261128-101320")}.click()`);
  assert.ok(!(await legend()).includes("fashion_cnn-20261128-101320"), await legend());
  assert.equal(await tab.evaluate(color), before);
  assert.equal(await tab.evaluate(`document.activeElement === ${box("fashion_cnn-20261128-101320")}`), true, "the focus is lost");
  // No more than there are colours.
  await tab.evaluate("for (const box of document.querySelectorAll('input[type=checkbox]')) if (!box.checked) box.click()");
  assert.equal(await tab.evaluate("document.querySelectorAll('input:checked').length"), 8);
  assert.ok((await textOf(tab)).includes("At most 8 runs have their curves shown."));
  const type = (id, value, event) => tab.evaluate(`{ const field = document.getElementById("${id}"); field.value = ${JSON.stringify(value)}; field.dispatchEvent(new Event("${event}")); }`);
  await type("words", "TALK twice", "input");
  assert.equal(await tab.evaluate(rows), 1);
  assert.ok((await textOf(tab)).includes("1 of 12 runs"));
  await type("words", "", "input");
  await type("outcome", "failed", "change");
  assert.equal(await tab.evaluate(rows), 1);
  await type("words", "nothing of that kind", "input");
  assert.ok((await textOf(tab)).includes("No run matches."));
  assert.deepEqual(tab.complaints, []);
  await tab.close();
}

if (shots) mkdirSync(shots, { recursive: true });
const browser = new Chromium(program);
try {
  for (const name of Object.keys(expected))
    for (const [width, dark] of [[1280, false], [1280, true], [400, false], [400, true]])
      if (!["rows", "numbers"].includes(name) || dark === (width === 400)) await checkLooks(browser, name, width, dark);
  await checkHands(browser);
  await checkMatrix(browser);
  await checkChoices(browser);
  console.log("every document looks as it should");
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}
