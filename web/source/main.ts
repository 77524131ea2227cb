// SPDX-License-Identifier: Apache-2.0
// Shows the document inside this page, or that of the server, again and again.
import { comparisonView } from "./comparison_view";
import { isComparison, isErrors, isFolder, type ComparisonDocument, type ErrorsDocument, type FolderDocument, type RunDocument } from "./document";
import { h } from "./dom";
import { errorsView } from "./errors_view";
import { FolderView } from "./folder_view";
import { RunView } from "./run_view";
import { startTheme, themeSwitch } from "./theme";

const liveSeconds = 1;
const restSeconds = 5; // a run that is over may still be resumed

const place = document.getElementById("page")!;
const notice = h("p", { class: "notice", role: "status", hidden: true });
let view: RunView | FolderView | null = null;
// Of a folder's page: the run whose own page this is.
const chosenRun = new URLSearchParams(location.search).get("run");

const logo = () => h("span", { class: "brand" }, "Trireme");

const help = "Drag over a chart to zoom, double-click to see all of it again. Dashed lines in charts: a node joined or was lost, or the strategy switched.";

function frame(content: HTMLElement, footer = help) {
  place.replaceChildren(
    h("header", { class: "top" }, logo(), chosenRun ? h("a", { class: "back", href: location.pathname }, "All runs") : null, themeSwitch()), notice, h("main", { id: "content", tabindex: -1 }, content),
    footer ? h("footer", {}, footer) : "");
}

function showFolder(shown: FolderDocument) {
  if (!(view instanceof FolderView)) {
    view = new FolderView();
    frame(view.element);
  }
  document.title = `${shown.entries.length === 1 ? "1 run" : `${shown.entries.length} runs`} · Trireme`;
  view.show(shown);
}

function show(shown: RunDocument | ComparisonDocument | FolderDocument | ErrorsDocument) {
  if (isErrors(shown)) {
    document.title = `Errors of ${shown.errors_of} · Trireme`;
    frame(errorsView(shown), "");
    return;
  }
  if (isFolder(shown)) {
    showFolder(shown);
    return;
  }
  if (isComparison(shown)) {
    document.title = "Comparison · Trireme";
    frame(comparisonView(shown));
    return;
  }
  if (!(view instanceof RunView)) {
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
  const address = chosenRun ? `/api/run?run=${encodeURIComponent(chosenRun)}` : "/api/run";
  const response = await fetch(address, { cache: "no-store", headers: tag ? { "If-None-Match": tag } : {} });
  if (response.status === 304) return { state: "same" };
  if (response.status === 401) return { state: "refused" };
  const body = await response.json();
  if (!response.ok) return { state: "fault", text: String(body.error ?? response.status) };
  tag = response.headers.get("ETag") ?? "";
  state = isFolder(body) ? (body.entries.some((entry) => entry.outcome === "running") ? "running" : "over") : body.run?.state;
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
if (location.search.includes("token="))
  history.replaceState(null, "", location.pathname + (chosenRun ? `?run=${encodeURIComponent(chosenRun)}` : ""));
const inside = JSON.parse(document.getElementById("document")?.textContent || "null");
if (inside) show(inside);
else void follow();
