// SPDX-License-Identifier: Apache-2.0
// Shows the document inside this page, or that of the server, again and again.
import { comparisonView } from "./comparison_view";
import { isComparison, isErrors, type ComparisonDocument, type ErrorsDocument, type RunDocument } from "./document";
import { h } from "./dom";
import { errorsView } from "./errors_view";
import { RunView } from "./run_view";
import { startTheme, themeSwitch } from "./theme";

const liveSeconds = 1;
const restSeconds = 5; // a run that is over may still be resumed

const place = document.getElementById("page")!;
const notice = h("p", { class: "notice", role: "status", hidden: true });
let view: RunView | null = null;

const logo = () => h("span", { class: "brand" }, "Trireme");

const help = "Drag over a chart to zoom, double-click to see all of it again. Dashed lines in charts: a node joined or was lost, or the strategy switched.";

function frame(content: HTMLElement, footer = help) {
  place.replaceChildren(
    h("header", { class: "top" }, logo(), themeSwitch()), notice, h("main", { id: "content", tabindex: -1 }, content),
    footer ? h("footer", {}, footer) : "");
}

function show(shown: RunDocument | ComparisonDocument | ErrorsDocument) {
  if (isErrors(shown)) {
    document.title = `Errors of ${shown.errors_of} · Trireme`;
    frame(errorsView(shown), "");
    return;
  }
  if (isComparison(shown)) {
    document.title = "Comparison · Trireme";
    frame(comparisonView(shown));
    return;
  }
  if (!view) {
    view = new RunView();
    frame(view.element);
  }
  const { run, progress } = shown;
  const percent = run?.state === "running" && typeof progress?.fraction === "number" ? `${Math.floor(100 * progress.fraction)} % · ` : "";
  document.title = `${percent}${run?.name ?? "A run"} · Trireme`;
  view.show(shown);
}

function tell(text: string) {
  notice.textContent = text;
  notice.hidden = text === "";
  if (text !== "" && !view) place.replaceChildren(h("p", { class: "loading" }, text));
}

const timeNow = () => new Date().toLocaleTimeString("en-GB");

interface Answer { state: "new" | "same" | "refused" | "fault"; text?: string }
let tag = "";
let lastAnswer = "";
let state: string | undefined;

async function ask(): Promise<Answer> {
  const response = await fetch("/api/run", { cache: "no-store", headers: tag ? { "If-None-Match": tag } : {} });
  if (response.status === 304) return { state: "same" };
  if (response.status === 401) return { state: "refused" };
  const body = await response.json();
  if (!response.ok) return { state: "fault", text: String(body.error ?? response.status) };
  tag = response.headers.get("ETag") ?? "";
  state = body.run?.state;
  show(body);
  return { state: "new" };
}

async function look(): Promise<number> {
  try {
    const answer = await ask();
    lastAnswer = timeNow();
    if (answer.state === "refused") {
      tell("Please open the whole address that trireme printed: the token in it opens the dashboard.");
      return 30;
    }
    tell(answer.state === "fault" ? `The run can't be read just now: ${answer.text}` : "");
    return state === "running" ? liveSeconds : restSeconds;
  } catch {
    const ended = state === undefined ? "The dashboard does not answer."
      : `The dashboard has ended or can't be reached; this is the run as it was at ${lastAnswer}. \`trireme dashboard RUN\` shows it again.`;
    tell(ended);
    return restSeconds;
  }
}

async function follow() {
  for (;;) {
    const seconds = document.hidden ? liveSeconds : await look();
    await new Promise((resolve) => setTimeout(resolve, 1000 * seconds));
  }
}

startTheme();
// The cookie is set; the secret need not stay where it can be read over a shoulder, or copied.
if (location.search.includes("token=")) history.replaceState(null, "", location.pathname);
const inside = JSON.parse(document.getElementById("document")?.textContent || "null");
if (inside) show(inside);
else void follow();
