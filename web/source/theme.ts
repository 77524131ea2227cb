// SPDX-License-Identifier: Apache-2.0
// Light or dark: as the system says, or as the reader chose.
import { h } from "./dom";

export type Theme = "auto" | "light" | "dark";
const order: Theme[] = ["auto", "light", "dark"];
const key = "trireme-theme";
const listeners: (() => void)[] = [];

export const onThemeChange = (listener: () => void) => listeners.push(listener);

function stored(): Theme {
  try {
    const value = localStorage.getItem(key) as Theme;
    return order.includes(value) ? value : "auto";
  } catch {
    return "auto"; // a file of its own may not be allowed to keep anything
  }
}

const system = matchMedia("(prefers-color-scheme: dark)");
let chosen: Theme = "auto";

function apply() {
  document.documentElement.dataset["theme"] = chosen === "auto" ? (system.matches ? "dark" : "light") : chosen;
  for (const listener of listeners) listener();
}

function choose(theme: Theme) {
  chosen = theme;
  try {
    localStorage.setItem(key, theme);
  } catch {
    // then it holds for this page only
  }
  apply();
}

// The colour that a name of page.css has now.
export const color = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

export function startTheme() {
  chosen = stored();
  apply();
  system.addEventListener("change", apply);
}

export function themeSwitch(): HTMLElement {
  const label = () => `Theme: ${chosen}`;
  const button = h("button", {
    type: "button", class: "quiet", title: "Light, dark, or as the system has it",
    click: () => {
      choose(order[(order.indexOf(chosen) + 1) % order.length]!);
      button.textContent = label();
    },
  }, label());
  return button;
}
