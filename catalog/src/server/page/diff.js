// Line diffs with line numbers.

import { MAX_LINES } from "./code.js";
import { h } from "./dom.js";

const CONTEXT = 3;
const MAX_CELLS = 4_000_000;

/** The diff as `[sign, line]` pairs, with the sign " ", "-" or "+": the longest common subsequence after common ends are removed. */
function diffLines(before, after) {
  const [a, b] = [before, after].map((text) => text.split("\n"));
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  const kept = (lines) => lines.map((line) => [" ", line]);
  const middle = between(a.slice(start, a.length - end), b.slice(start, b.length - end));
  return [...kept(a.slice(0, start)), ...middle, ...kept(a.slice(a.length - end))];
}

function between(a, b) {
  const [gone, come] = [(line) => ["-", line], (line) => ["+", line]];
  if (a.length * b.length > MAX_CELLS) return [...a.map(gone), ...b.map(come)];
  const width = b.length + 1;
  const longest = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      const [below, right] = [longest[(i + 1) * width + j], longest[i * width + j + 1]];
      longest[i * width + j] = a[i] === b[j] ? longest[(i + 1) * width + j + 1] + 1 : Math.max(below, right);
    }
  }
  const lines = [];
  let [i, j] = [0, 0];
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      lines.push([" ", a[i]]);
      i += 1;
      j += 1;
    } else if (longest[(i + 1) * width + j] >= longest[i * width + j + 1]) lines.push(gone(a[i++]));
    else lines.push(come(b[j++]));
  }
  return [...lines, ...a.slice(i).map(gone), ...b.slice(j).map(come)];
}

/** Adds line numbers: `[sign, line, before, after]`, counted from the given ones. */
function numberedLines(lines, [before, after] = [1, 1]) {
  let [a, b] = [before, after];
  return lines.map(([sign, line]) => [sign, line, " -".includes(sign) ? a++ : "", " +".includes(sign) ? b++ : ""]);
}

/** A diff as a list. Lines far from any change are left out. */
export function shownDiff(before, after, name) {
  if (before === after) return h("p", { class: "same" }, "No differences.");
  const ends = before.endsWith("\n") && after.endsWith("\n");
  const lines = numberedLines(ends ? diffLines(before.slice(0, -1), after.slice(0, -1)) : diffLines(before, after));
  const near = (index) => lines.slice(Math.max(0, index - CONTEXT), index + CONTEXT + 1).some(([sign]) => sign !== " ");
  return rows(lines.map((line, index) => (near(index) ? line : null)), name);
}

/** A unified diff as a list. Its hunks begin with their line numbers. */
export function shownUnified(text, name) {
  const hunks = [];
  for (const line of text.replace(/\n$/, "").split("\n")) {
    const start = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(line);
    if (start) hunks.push({ start: [Number(start[1]), Number(start[2])], lines: [] });
    else if (hunks.length > 0) hunks.at(-1).lines.push([line[0] || " ", line.slice(1)]);
    else if (!/^(\+\+\+|---)/.test(line)) hunks.push({ start: [1, 1], lines: [[line[0] || " ", line.slice(1)]] });
  }
  return rows(hunks.flatMap(({ start, lines }, index) => [...(index > 0 ? [null] : []), ...numberedLines(lines, start)]), name);
}

const KINDS = { " ": ["span", "", "kept"], "-": ["del", "removed: ", "gone"], "+": ["ins", "added: ", "come"], "\\": ["span", "", "place"] };

function rows(lines, name) {
  const shown = lines.filter((line, index) => line !== null || lines[index - 1] !== null);
  const row = (line) => {
    if (line === null) return h("li", { class: "place" }, "⋯");
    const [sign, text, before, after] = line;
    const [tag, spoken, kind] = KINDS[sign] ?? KINDS[" "];
    const numbers = [before, after].map((number) => h("span", { class: "number", "aria-hidden": "true" }, String(number)));
    return h("li", { class: kind }, numbers, h("span", { class: "sign", "aria-hidden": "true" }, sign), spoken && h("span", { class: "spoken" }, spoken), h(tag, {}, text));
  };
  const list = h("ul", { class: "diff text", tabindex: "0", role: "list", "aria-label": name }, shown.slice(0, MAX_LINES).map(row));
  return shown.length > MAX_LINES ? h("div", {}, list, h("p", { class: "hint" }, "Only the beginning is shown.")) : list;
}
