// SPDX-License-Identifier: Apache-2.0
// Bundles the page into one HTML text, and that into a C++ source:  node build.mjs NODE_MODULES page.html page_text.cc
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const [modules, html, cpp] = process.argv.slice(2).map((path) => resolve(path));
const esbuild = createRequire(join(modules, "none.js"))("esbuild");
const source = join(dirname(fileURLToPath(import.meta.url)), "source");

async function bundle(entry) {
  const result = await esbuild.build({
    entryPoints: [join(source, entry)],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: ["chrome100", "firefox100", "safari15"],
    nodePaths: [modules],
    loader: { ".woff2": "dataurl" },
    charset: "utf8",
    legalComments: "none",
    logLevel: "warning",
  });
  return result.outputFiles[0].text.trim();
}

const sha256 = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

const [script, style] = await Promise.all([bundle("main.ts"), bundle("page.css")]);
if (script.includes("</script") || style.includes("</style")) throw new Error("the bundle would end its own element");

// Nothing but this style and this script; the font and the icon are inside; data come from the own server only.
const policy =
  `default-src 'none'; script-src ${sha256(script)}; style-src ${sha256(style)}; font-src data:; img-src data:; ` +
  "connect-src 'self'; base-uri 'none'; form-action 'none'";

const page = readFileSync(join(source, "page.html"), "utf8")
  .replace("{{policy}}", () => policy)
  .replace("{{style}}", () => style)
  .replace("{{script}}", () => script);

const literal = (text) => {
  if (text.includes(')page"')) throw new Error("the page has the end of a C++ literal in it");
  return `R"page(${text})page"`;
};
writeFileSync(html, page);
writeFileSync(
  cpp,
  `// Generated from web/ by web/build.mjs.
#include "trireme/web/page.h"

namespace trireme::web {
std::string_view page() {
  static constexpr char text[] =
      ${literal(page)};
  return {text, sizeof text - 1};
}
std::string_view page_policy() { return ${literal(policy)}; }
std::string_view page_absence() { return {}; }
}  // namespace trireme::web
`,
);
