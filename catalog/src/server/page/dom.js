// Elements are built from attributes and text nodes, so that content is never parsed as HTML.

/** Creates an element from attributes (`on…` adds a listener, booleans set or omit) and children. */
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

/** Returns a unique element ID. */
export function freshId() {
  made += 1;
  return `e${made}`;
}

/** A control with its label above it. */
export function labelled(text, control) {
  control.id ||= freshId();
  return h("div", { class: "field" }, h("label", { for: control.id }, text), control);
}

/** A text with line numbers. `marks` maps line numbers to messages. */
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

/** Calls `act` once there are no further calls for `delay` milliseconds. */
export function debounced(delay, act) {
  let timer;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(act, delay);
  };
}
