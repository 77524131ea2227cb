// SPDX-License-Identifier: Apache-2.0
// Drives a headless Chromium through its debugging pipe: no port, and no package between us and the browser.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const answerSeconds = 30;

export function findChromium() {
  const names = ["chromium", "chromium-browser", "google-chrome"];
  return (process.env.PATH ?? "").split(":").flatMap((folder) => names.map((name) => join(folder, name))).find((path) => existsSync(path));
}

export class Chromium {
  #process;
  #folder = mkdtempSync(join(tmpdir(), "trireme-chromium-"));
  #waiting = new Map();
  #next = 1;
  #rest = "";
  #listeners = [];

  constructor(program) {
    this.#process = spawn(program, ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update", "--no-first-run",
      "--disable-extensions", "--hide-scrollbars", "--mute-audio", "--force-color-profile=srgb", `--user-data-dir=${this.#folder}`, "--remote-debugging-pipe", "about:blank"],
      { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
    this.#process.stdio[4].on("data", (data) => this.#receive(data));
    this.#process.on("exit", () => this.#waiting.forEach(({ reject }) => reject(new Error("Chromium ended"))));
  }

  send(method, params = {}, sessionId = undefined) {
    const id = this.#next++;
    this.#process.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + "\0");
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${method}: no answer in ${answerSeconds} s`)), 1000 * answerSeconds);
      const done = (call) => (value) => { clearTimeout(timer); call(value); };
      this.#waiting.set(id, { resolve: done(resolve), reject: done(reject) });
    });
  }

  onEvent(listener) {
    this.#listeners.push(listener);
  }

  #receive(data) {
    const messages = (this.#rest + data).split("\0");
    this.#rest = messages.pop();
    for (const text of messages) {
      const message = JSON.parse(text);
      const waiting = this.#waiting.get(message.id);
      this.#waiting.delete(message.id);
      if (!waiting) this.#listeners.forEach((listener) => listener(message));
      else if (message.error) waiting.reject(new Error(message.error.message));
      else waiting.resolve(message.result);
    }
  }

  async close() {
    const ended = new Promise((resolve) => this.#process.on("exit", resolve));
    await this.send("Browser.close").catch(() => this.#process.kill("SIGKILL"));
    await ended;
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }

  async open({ width, height = 900, dark = false }) {
    const { targetId } = await this.send("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await this.send("Target.attachToTarget", { targetId, flatten: true });
    const tab = new Tab(this, sessionId, targetId);
    await tab.send("Page.enable");
    await tab.send("Runtime.enable");
    await tab.send("Log.enable");
    await tab.send("Network.enable");
    await tab.send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: width < 600 });
    await tab.send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }, { name: "prefers-reduced-motion", value: "reduce" }] });
    return tab;
  }
}

class Tab {
  complaints = []; // of the console
  requests = []; // addresses

  constructor(browser, sessionId, targetId) {
    this.browser = browser;
    this.sessionId = sessionId;
    this.targetId = targetId;
    browser.onEvent((event) => event.sessionId === sessionId && this.#note(event));
  }

  #note({ method, params }) {
    if (method === "Runtime.exceptionThrown") this.complaints.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
    if (method === "Runtime.consoleAPICalled" && ["error", "warning"].includes(params.type)) this.complaints.push(params.args.map((part) => part.value).join(" "));
    if (method === "Log.entryAdded" && ["error", "warning"].includes(params.entry.level)) this.complaints.push(`${params.entry.text} ${params.entry.url ?? ""}`);
    if (method === "Network.requestWillBeSent") this.requests.push(params.request.url);
  }

  send(method, params = {}) {
    return this.browser.send(method, params, this.sessionId);
  }

  go(url) {
    return this.send("Page.navigate", { url });
  }

  async evaluate(expression) {
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", { expression, returnByValue: true, awaitPromise: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  async until(expression, seconds = 20) {
    for (const end = Date.now() + 1000 * seconds; Date.now() < end; ) {
      if (await this.evaluate(expression).catch(() => false)) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`never true: ${expression}`);
  }

  // `whole`: the page from top to bottom, not only what fits the window.
  async screenshot(whole = true) {
    const { cssContentSize } = await this.send("Page.getLayoutMetrics");
    const clip = whole ? { x: 0, y: 0, width: cssContentSize.width, height: Math.min(cssContentSize.height, 12_000), scale: 1 } : undefined;
    const { data } = await this.send("Page.captureScreenshot", { format: "png", clip, captureBeyondViewport: whole });
    return Buffer.from(data, "base64");
  }

  close() {
    return this.browser.send("Target.closeTarget", { targetId: this.targetId });
  }
}
