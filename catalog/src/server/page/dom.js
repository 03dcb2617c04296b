// Elements are built from attributes and text nodes, so that content is never parsed as HTML.

/** Creates an element from attributes (`on…` adds a listener, booleans set or omit) and children. */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== undefined && value !== null) element.setAttribute(name, value);
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
  return element;
}

export const byId = (id) => document.getElementById(id);

let made = 0;

/** Returns a unique element ID. */
export function freshId() {
  made += 1;
  return `e${made}`;
}

/** A control with its label above it and an optional hint below. */
export function labelled(text, control, hint = null) {
  control.id ||= freshId();
  const below = hint && h("p", { class: "hint", id: freshId() }, hint);
  if (below) control.setAttribute("aria-describedby", below.id);
  return h("div", { class: "field" }, h("label", { for: control.id }, text), control, below);
}

/** A checkbox with its label beside it. */
export function checkbox(text, attributes) {
  const box = h("input", { type: "checkbox", id: freshId(), ...attributes });
  return [box, h("div", { class: "choice" }, box, h("label", { for: box.id }, text))];
}

export const link = (to, ...children) => h("a", { href: to }, ...children);
export const button = (text, onclick, attributes = {}) => h("button", { type: "button", onclick, ...attributes }, text);
export const chips = (texts, attributes = {}) => h("ul", { class: "chips", ...attributes }, texts.map((text) => h("li", {}, text)));

/** A time in the reader's zone, with the exact one on hover. */
export const time = (text) => (text ? h("time", { datetime: text, title: text }, new Date(text).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" })) : "never");

/** Names and their facts. Leaves out absent facts. */
export function facts(entries) {
  const given = Object.entries(entries).filter(([, fact]) => fact !== null && fact !== undefined);
  return h("dl", {}, given.map(([name, fact]) => h("div", {}, h("dt", {}, name), h("dd", {}, fact))));
}

export const count = (number, one, many = `${one}s`) => `${number.toLocaleString("en")} ${number === 1 ? one : many}`;

/** Replaces the content of an element. If the focus was inside, it goes to the same control in the new content. */
export function refill(element, ...children) {
  const before = element.contains(document.activeElement) && document.activeElement;
  const named = (control) => `${control.tagName} ${control.getAttribute("aria-label")} ${control.textContent}`;
  const name = before && before !== element && named(before);
  element.replaceChildren(...children.flat(Infinity).filter(Boolean));
  if (!before || before === element) return;
  const after = [...element.querySelectorAll("a, button, input, [tabindex]")].find((control) => named(control) === name);
  if (!after) element.tabIndex = -1;
  (after ?? element).focus({ preventScroll: true });
}

/** Marks a button as busy while `act` runs. It stays focusable, and further clicks do nothing. */
export function once(act) {
  return async (event) => {
    event.preventDefault();
    const busy = event.submitter ?? event.currentTarget;
    if (busy.getAttribute("aria-disabled") === "true") return;
    busy.setAttribute("aria-disabled", "true");
    try {
      await act(event);
    } finally {
      busy.removeAttribute("aria-disabled");
    }
  };
}

/** Calls `act` once there are no further calls for `delay` milliseconds. */
export function debounced(delay, act) {
  let timer;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(act, delay);
  };
}
