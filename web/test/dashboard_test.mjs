// SPDX-License-Identifier: Apache-2.0
// Trains a small network with --dashboard and watches it in headless Chromium until it ends:  node dashboard_test.mjs trireme job.toml
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Chromium, findChromium } from "./chromium.mjs";

const program = findChromium();
if (!program) {
  console.log("skipped: there is no chromium here (Debian's package chromium)");
  process.exit(77);
}
const [trireme, job] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "trireme-dashboard-"));

// A command whose first address on its output is waited for.
class Command {
  output = "";
  code = null;

  constructor(...words) {
    this.process = spawn(trireme, words, { stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [this.process.stdout, this.process.stderr]) stream.on("data", (data) => (this.output += data));
    this.ended = new Promise((resolve) => this.process.on("exit", (code, signal) => resolve((this.code = code ?? signal))));
  }

  async url(seconds = 60) {
    for (const end = Date.now() + 1000 * seconds; Date.now() < end && this.code === null; await new Promise((resolve) => setTimeout(resolve, 20))) {
      const found = this.output.match(/http:\/\/127\.0\.0\.1:\d+\/\?token=[0-9a-f]{32}/);
      if (found) return found[0];
    }
    throw new Error(`no address was printed:\n${this.output}`);
  }

  async stop(signal = "SIGINT") {
    if (this.code === null) this.process.kill(signal);
    const timer = setTimeout(() => this.process.kill("SIGKILL"), 20_000);
    await this.ended;
    clearTimeout(timer);
    return this.code;
  }
}

const state = "document.querySelector('h1 + .pill')?.textContent";
const notice = "document.querySelector('.notice')";

async function watchTraining(browser) {
  const train = new Command("train", job, "--dashboard", "--runs", folder, "--set", "data.samples=4000", "--set", "train.epochs=1000", "--threads", "1");
  try {
    const url = await train.url();
    const tab = await browser.open({ width: 1280 });
    await tab.go(url);
    await tab.until(`${state} === "Running" && document.querySelector('.tile')`, 60);
    assert.equal(await tab.evaluate("location.search"), "", "the token stays in the address bar");
    assert.equal(await tab.evaluate("document.cookie"), "", "a script can read the cookie");
    // It goes on by itself.
    const step = "[...document.querySelectorAll('.tile')].find((tile) => tile.textContent.startsWith('Step'))?.textContent";
    const before = await tab.evaluate(step);
    await tab.until(`${step} !== ${JSON.stringify(before)}`, 30);
    await tab.send("Page.reload");
    await tab.until(`${state} === "Running"`);
    // A page that is open sees the end.
    assert.equal(await train.stop(), 130, train.output);
    await tab.until(`${state} === "Interrupted"`);
    await tab.until(`${notice} && !${notice}.hidden && ${notice}.textContent.includes("has ended")`, 30);
    assert.match(train.output, /trireme dashboard .* shows it again/);
    const others = tab.requests.filter((address) => !address.startsWith(new URL(url).origin) && !address.startsWith("data:"));
    assert.deepEqual(others, []);
    await tab.close();
  } finally {
    await train.stop();
  }
}

async function watchFinished(browser) {
  const run = join(folder, readdirSync(folder).find((name) => name !== "latest"));
  const dashboard = new Command("dashboard", run, "--no-open");
  try {
    const url = await dashboard.url();
    const tab = await browser.open({ width: 400, dark: true });
    await tab.go(url);
    await tab.until(`${state} === "Interrupted"`);
    assert.deepEqual(tab.complaints, []);
    assert.ok((await tab.evaluate("document.documentElement.scrollWidth")) <= 400);
    await tab.close();

    const stranger = await browser.open({ width: 400 });
    await stranger.send("Network.clearBrowserCookies");
    await stranger.go(new URL(url).origin);
    await stranger.until("document.body.innerText.includes('the token in it opens the dashboard')");
    await stranger.close();

    const second = new Command("dashboard", run, "--no-open", "--port", new URL(url).port);
    assert.notEqual(await second.ended, 0);
    assert.match(second.output, /is taken by another program/);
    assert.equal(await dashboard.stop(), 0);
  } finally {
    await dashboard.stop();
  }
  const none = new Command("dashboard", join(folder, "none"));
  assert.equal(await none.ended, 2, none.output);
  assert.match(none.output, /error: .*none/);
}

// The folder's list leads to a run's page and back; a stranger gets neither.
async function watchFolder(browser) {
  const run = readdirSync(folder).find((name) => name !== "latest");
  const dashboard = new Command("dashboard", folder, "--no-open");
  try {
    const url = await dashboard.url();
    const tab = await browser.open({ width: 1280 });
    await tab.go(url);
    await tab.until("document.querySelector('h1')?.textContent === '1 run' && document.querySelectorAll('.uplot').length > 0");
    assert.equal(await tab.evaluate("location.search"), "", "the token stays in the address bar");
    assert.equal(await tab.evaluate("document.querySelector('table.data .pill').textContent"), "stopped");
    await tab.evaluate("document.querySelector('table.data a').click()");
    await tab.until(`${state} === "Interrupted"`);
    assert.equal(await tab.evaluate("document.querySelector('h1').textContent"), run);
    await tab.evaluate("document.querySelector('.back').click()");
    await tab.until("document.querySelector('h1')?.textContent === '1 run'");
    assert.deepEqual(tab.complaints, []);
    for (const name of ["../latest", "none", ".."]) {
      const status = await tab.evaluate(`fetch("/api/run?run=" + encodeURIComponent(${JSON.stringify(name)})).then((answer) => answer.status)`);
      assert.equal(status, 503, name);
    }
    await tab.close();
    const answer = await fetch(`${new URL(url).origin}/api/run?run=${run}`);
    assert.equal(answer.status, 401);
    assert.equal(await dashboard.stop(), 0);
  } finally {
    await dashboard.stop();
  }
}

const browser = new Chromium(program);
try {
  await watchTraining(browser);
  await watchFinished(browser);
  await watchFolder(browser);
  console.log("the dashboard shows a training from its first step to its end");
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}
