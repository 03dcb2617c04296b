// Texts with line numbers and colours, which can be copied and downloaded.

import { coloured } from "./colour.js";
import { button, byId, count, h } from "./dom.js";

export const MAX_LINES = 5000;
const MAX_TOKENS = 1000;
const MAX_TEXT = 500_000;

/** Copies a text. Clipboards exist only on secure addresses, so there is another way. */
async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const before = document.activeElement;
  const area = h("textarea", { class: "spoken" });
  area.value = text;
  document.body.append(area);
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  before?.focus();
  if (!copied) throw new Error("The browser does not allow copying here.");
  return undefined;
}

function download(text, file) {
  const url = URL.createObjectURL(new Blob([text], { type: "text/plain;charset=utf-8" }));
  h("a", { href: url, download: file }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/** A button that copies what `text` returns, and says so. */
export function copier(text, name) {
  const act = async (event) => {
    const target = event.currentTarget;
    await copy(text()).then(() => { target.firstChild.data = "Copied"; }, (error) => { target.firstChild.data = error.message; });
    byId("message").className = "spoken";
    byId("message").textContent = `${target.firstChild.data}: ${name}`;
    setTimeout(() => { target.firstChild.data = "Copy"; }, 2000);
  };
  return button(["Copy", h("span", { class: "spoken" }, ` ${name}`)], act, { class: "small" });
}

function line(tokens, messages) {
  const parts = tokens.slice(0, MAX_TOKENS).map(([kind, text]) => (kind ? h("span", { class: `t-${kind}` }, text) : text));
  parts.push(tokens.slice(MAX_TOKENS).map(([, text]) => text).join(""));
  const notes = messages.map((message) => h("span", { class: "error note" }, message));
  return h("li", { class: messages.length > 0 ? "marked" : null }, h("code", {}, tokens.length > 0 ? parts : " "), notes);
}

/** The number of the line that was clicked, unless the click ended a selection of text. */
function clicked(event) {
  const item = event.target.closest("li");
  return item && getSelection().isCollapsed ? [...item.parentElement.children].indexOf(item) + 1 : null;
}

/** A text with line numbers. `marks` maps line numbers to messages, and `ask` is called with the number of a clicked line. */
function numbered(text, { name, language, marks = new Map(), ask }) {
  const lines = coloured(text.slice(0, MAX_TEXT), language);
  if (lines.length > 1 && lines.at(-1).length === 0) lines.pop();
  const shown = lines.slice(0, MAX_LINES).map((tokens, index) => line(tokens, marks.get(index + 1) ?? []));
  const cut = text.length > MAX_TEXT || lines.length > MAX_LINES;
  const rest = cut && h("p", { class: "hint rest" }, `Only the beginning is shown. The whole text has ${count(text.split("\n").length - 1, "line")}.`);
  const list = h("ol", { class: ask ? "text asked" : "text", tabindex: "0", role: "list", "aria-label": name }, shown);
  if (ask) list.addEventListener("click", (event) => clicked(event) && ask(clicked(event)));
  return [list, rest];
}

/** A text with its name, line numbers, colours, and buttons. `shown` is what to show instead of the text. */
export function code(text, { name, language = "", file, marks, ask, shown = text }) {
  const tools = h("div", { class: "tools" }, copier(() => text, name),
    file && button(["Download", h("span", { class: "spoken" }, ` ${name}`)], () => download(text, file), { class: "small" }));
  return h("div", { class: "code-block" }, h("div", { class: "bar" }, h("span", { class: "soft" }, name), tools), numbered(shown, { name, language, marks, ask }));
}

/** A command to copy. */
export function command(text, about = "") {
  return h("div", { class: "command" }, about && h("p", { class: "hint" }, about), h("div", { class: "bar" }, h("code", {}, text), copier(() => text, "command")));
}
