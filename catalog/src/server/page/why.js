// What wrote a line of an object, and where its values come from.

import { h, labelled, once } from "./dom.js";

/** A form that asks about a line, its answer, and `ask`, which asks about a line with the number. */
export function why(session, object) {
  const answer = h("div", { id: "why", "aria-live": "polite" });
  const line = h("input", { type: "number", min: 1, required: true, inputmode: "numeric" });
  const look = session.trying(async () => {
    answer.replaceChildren(...told(await session.api.get(`/deployment-objects/${object.id}/why?line=${line.value}`)));
  });
  const form = h("form", { class: "asking", onsubmit: once(look) },
    labelled("Line", line, "Or click a line of the text."), h("button", { type: "submit" }, "Why?"));
  const ask = (number) => {
    line.value = number;
    return look();
  };
  return { content: h("section", { class: "panel" }, h("h2", {}, "Where a line comes from"), form, answer), ask };
}

/** The parts of an answer. */
function told({ line, column, now, changed, text, copied, heads, template, written, within, inputs, texts = [] }) {
  return [
    h("p", {}, `Line ${line}, column ${column}: `, h("code", {}, text)),
    now && h("p", { class: "hint" }, `It is line ${now} if the object is rendered now.`),
    changed && h("p", { class: "hint" }, "The line is written like this if the object is rendered now."),
    h("ul", { class: "reasons" },
      copied && h("li", {}, `copied from ${template}`),
      heads && h("li", {}, `begins a document of ${heads}`),
      written.map((place, index) => at(index === 0 ? "written by" : "passed by", place.code, place)),
      texts.map((text) => h("li", {}, h("span", { class: "soft" }, "text of "), value(text))),
      [...within].reverse().map(around),
      inputs.map((input) => h("li", {}, h("span", { class: "soft" }, input.direct ? "value of " : "made from "), value(input)))),
  ].filter(Boolean);
}

function around({ kind, at: place, item, holds, inputs = [] }) {
  const [label, code] = {
    call: () => ["called by", place.code],
    loop: () => ["in the loop", item ? `${place.code}, item ${item}` : place.code],
    condition: () => ["because", `${place.code} is ${holds}`],
  }[kind]();
  return at(label, code, place, inputs.length > 0 && h("ul", {}, inputs.map((input) => h("li", {}, value(input)))));
}

/** What happened, and where in the template. */
const at = (label, code, { file, line, column }, below = null) => h("li", {},
  h("span", { class: "soft" }, `${label} `), h("code", {}, code), h("p", { class: "hint" }, `at ${file}:${line}:${column}`), below);

/** An input, its value, and what gives it. */
function value({ path, value: shown, secret, origins }) {
  const known = secret ? ", which the schema marks secret" : shown === undefined ? "" : ` = ${shown}`;
  const from = origins.map((origin, index) => `${index === 0 ? "from" : "over"} ${origin}`).join(", ");
  if (path === "") return [secret ? "a value that the schema marks secret" : "further inputs"];
  return [h("code", {}, path), known, from && h("p", { class: "hint" }, from)];
}
