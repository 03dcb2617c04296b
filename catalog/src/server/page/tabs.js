// Two panels beside each other, or as tabs on a small screen.

import { freshId, h } from "./dom.js";

const SMALL = matchMedia("(max-width: 56rem)");

/** Shows panels, given as `[name, element]`. */
export function tabs(panels) {
  const buttons = panels.map(([name, panel], index) => {
    panel.id ||= freshId();
    return h("button", { type: "button", role: "tab", id: freshId(), "aria-controls": panel.id, onclick: () => open(index) }, name, h("span", { class: "soft" }));
  });
  const list = h("div", { role: "tablist", class: "tabs", "aria-label": "Panels" }, buttons);
  const element = h("div", { class: "split" }, list, h("div", { class: "two" }, panels.map(([, panel]) => panel)));
  let chosen = 0;

  function arrange() {
    list.hidden = !SMALL.matches;
    for (const [index, [, panel]] of panels.entries()) {
      const selected = index === chosen;
      buttons[index].setAttribute("aria-selected", String(selected));
      buttons[index].tabIndex = selected ? 0 : -1;
      panel.hidden = SMALL.matches && !selected;
      for (const [name, value] of [["role", "tabpanel"], ["aria-labelledby", buttons[index].id]]) {
        if (SMALL.matches) panel.setAttribute(name, value);
        else panel.removeAttribute(name);
      }
    }
  }

  function open(index) {
    chosen = index;
    arrange();
  }

  list.addEventListener("keydown", (event) => {
    const move = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!move) return;
    event.preventDefault();
    open((chosen + move + panels.length) % panels.length);
    buttons[chosen].focus();
  });
  SMALL.addEventListener("change", arrange);
  arrange();
  return { element, open, note: (index, text) => { buttons[index].lastChild.textContent = text; } };
}
