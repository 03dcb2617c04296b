// Elements are made of attributes and text nodes: nothing that is shown is ever read as HTML.

/** An element: attributes (`on…` listeners, booleans for those that are there or not), then children. */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== undefined && value !== null) element.setAttribute(name, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export const byId = (id) => document.getElementById(id);

let made = 0;

/** An id that no other element has. */
export function freshId() {
  made += 1;
  return `e${made}`;
}

/** A label and what it labels, one above the other. */
export function labelled(text, control) {
  control.id ||= freshId();
  return h("div", { class: "field" }, h("label", { for: control.id }, text), control);
}

/** A text by the line, numbered; `marks` are messages by line number. */
export function numbered(text, marks = new Map(), name = "Text") {
  const lines = text.split("\n");
  if (lines.length > 1 && lines.at(-1) === "") lines.pop();
  const row = (line, index) => {
    const messages = marks.get(index + 1) ?? [];
    const notes = messages.map((message) => h("span", { class: "error note" }, message));
    return h("li", { class: messages.length > 0 ? "marked" : null }, h("code", {}, line || " "), notes);
  };
  return h("ol", { class: "text", tabindex: "0", "aria-label": name }, lines.map(row));
}

/** Calls `act` when there was no further call for `delay` milliseconds. */
export function debounced(delay, act) {
  let timer;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(act, delay);
  };
}
