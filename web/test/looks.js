// SPDX-License-Identifier: Apache-2.0
// Runs inside the page: what a reader would complain about, as a list of sentences.
(() => {
  const complaints = [];

  const parts = (color) => {
    const numbers = color.match(/[\d.]+/g)?.map(Number) ?? [0, 0, 0, 0];
    return color.startsWith("color(srgb") ? [...numbers.slice(0, 3).map((value) => 255 * value), numbers[3] ?? 1] : [...numbers.slice(0, 3), numbers[3] ?? 1];
  };
  const luminance = (rgb) => {
    const [r, g, b] = rgb.slice(0, 3).map((value) => (value / 255 <= 0.03928 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const background = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = parts(getComputedStyle(at).backgroundColor);
      if (color[3] > 0.9) return color;
    }
    return [255, 255, 255, 1];
  };
  const contrast = (element) => {
    const [a, b] = [luminance(parts(getComputedStyle(element).color)), luminance(background(element))].sort((x, y) => y - x);
    return (a + 0.05) / (b + 0.05);
  };

  const hasText = (element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim() !== "");
  for (const element of document.querySelectorAll("body *")) {
    const box = element.getBoundingClientRect();
    if (!hasText(element) || box.width < 2 || box.height < 2 || element.closest(".hidden, .skip, script, style, noscript, details:not([open]) > :not(summary)")) continue;
    const ratio = contrast(element);
    if (ratio < 4.5) complaints.push(`contrast ${ratio.toFixed(2)}: <${element.tagName} class="${element.className}"> ${element.textContent.trim().slice(0, 30)}`);
  }

  if (document.documentElement.scrollWidth > innerWidth) {
    const wide = [...document.querySelectorAll("body *")].filter((element) => element.getBoundingClientRect().right > innerWidth + 1 && !element.closest(".links, .table-box"));
    complaints.push(`the page is ${document.documentElement.scrollWidth} px wide, the window ${innerWidth}: ${wide.slice(0, 3).map((element) => element.className).join(", ")}`);
  }
  for (const element of document.querySelectorAll("[role=img], [role=progressbar], nav"))
    if (!element.getAttribute("aria-label")) complaints.push(`no label: ${element.outerHTML.slice(0, 80)}`);
  for (const element of document.querySelectorAll("section:not([hidden])"))
    if (!document.getElementById(element.getAttribute("aria-labelledby"))?.textContent) complaints.push(`a section without a heading: ${element.id}`);
  if (document.querySelectorAll("h1").length !== 1) complaints.push("there is not exactly one main heading");
  for (const canvas of document.querySelectorAll("canvas")) {
    const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    if (!pixels.some((value) => value !== 0)) complaints.push("an empty chart");
  }
  for (const bar of document.querySelectorAll(".bars .bar:not(.thin)")) {
    const inside = [...bar.children].reduce((sum, segment) => sum + segment.getBoundingClientRect().width, 0);
    if (inside > bar.getBoundingClientRect().width + 1) complaints.push("a bar's parts are wider than the bar");
    if (bar.querySelector(".hatched")) complaints.push("something overlapped stands in a step's bar");
  }
  if (/undefined|NaN|Infinity|\[object/.test(document.body.innerText)) complaints.push(`a raw value is shown: ${document.body.innerText.match(/.{20}(undefined|NaN|Infinity|\[object).{20}/s)?.[0]}`);
  return complaints;
})();
