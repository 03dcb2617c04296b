// A form for parameters: fields, or JSON text. The service validates them.

import { checkbox, freshId, h } from "./dom.js";
import { field } from "./fields.js";
import { Spelled, isMap, parse, path, put, step, write } from "./json.js";
import { fits } from "./schema.js";
import { told } from "./words.js";

const MASK = "••••••••";

/** Calls `change` with every value and its pointer, and replaces the value by the result. */
function mapped(value, change, pointer = "") {
  const changed = change(value, pointer);
  if (changed !== value || changed === null || typeof changed !== "object") return changed;
  if (Array.isArray(value)) return value.map((item, index) => mapped(item, change, pointer + step(index)));
  if (!isMap(value)) return value;
  const map = {};
  for (const [key, item] of Object.entries(value)) put(map, key, mapped(item, change, pointer + step(key)));
  return map;
}

export class Form {
  #secrets = new Map();
  #violations = [];

  /** Calls `changed` at every change. */
  constructor(schema, changed) {
    this.schema = isMap(schema) ? schema : {};
    this.changed = changed;
    this.fields = new Map();
    this.problem = h("p", { class: "error", id: freshId() });
    this.root = field(this, this.schema, { name: "Parameters", pointer: "", required: true });
    this.raw = h("textarea", { rows: "16", class: "mono", spellcheck: "false", "aria-label": "Parameters as JSON", "aria-describedby": this.problem.id, oninput: changed, hidden: true });
    const [box, choice] = checkbox("Edit as JSON", { onchange: () => this.switched() });
    this.asJson = box;
    this.element = h("form", { id: "parameters", novalidate: true, onsubmit: (event) => event.preventDefault() },
      choice, this.problem, this.root.element, this.raw);
    if (!this.root.children) this.show("{}");
  }

  /** The parameters, or undefined if they are invalid. */
  value() {
    const text = this.text();
    return text === null ? undefined : parse(text);
  }

  /** Takes over the parameters of another form, if fields can show them. */
  adopt(value) {
    if (value === undefined || !fits(value, this.schema, this.schema)) return;
    if (this.asJson.checked) this.show(write(value));
    else this.root.set(value);
  }

  show(text) {
    this.asJson.checked = true;
    this.raw.value = text;
    this.raw.hidden = false;
    this.root.element.hidden = true;
  }

  switched() {
    this.problem.textContent = "";
    if (this.asJson.checked) this.show(write(this.hidden(this.root.get([]) ?? {})));
    else this.shown();
    this.changed();
  }

  /** Replaces secrets by a mask and remembers them. */
  hidden(value) {
    this.#secrets = new Map();
    return mapped(value, (item, pointer) => {
      if (!this.fields.get(pointer)?.secret || item === "") return item;
      this.#secrets.set(pointer, item);
      return MASK;
    });
  }

  /** Puts secrets in the places of their masks. */
  revealed(value) {
    return mapped(value, (item, pointer) => (item === MASK && this.#secrets.has(pointer) ? this.#secrets.get(pointer) : item));
  }

  /** The texts of secrets, to be hidden elsewhere. */
  secrets() {
    const texts = new Set();
    const found = this.value();
    if (found !== undefined) {
      mapped(found, (item, pointer) => {
        const text = item instanceof Spelled ? item.text : item;
        // Shorter ones occur everywhere.
        if (typeof text === "string" && text.length > 3 && this.isSecret(pointer)) texts.add(text);
        return item;
      });
    }
    return [...texts];
  }

  isSecret(pointer) {
    return this.around(pointer)?.secret ?? false;
  }

  /** Switches from JSON to fields, if fields can show everything. */
  shown() {
    let why = "";
    try {
      const value = this.revealed(parse(this.raw.value));
      if (fits(value, this.schema, this.schema)) this.root.set(value);
      else why = "Some values do not have the types of the schema and can only be edited as JSON.";
    } catch (error) {
      why = `Invalid JSON: ${error.message}`;
    }
    this.problem.textContent = why;
    this.asJson.checked = why !== "";
    this.raw.hidden = why === "";
    this.root.element.hidden = why !== "";
  }

  /** The parameters as JSON text, or null if they are invalid, which the form shows. */
  text() {
    if (this.asJson.checked) {
      try {
        const value = parse(this.raw.value);
        this.problem.textContent = "";
        return this.#secrets.size > 0 ? write(this.revealed(value)) : this.raw.value;
      } catch (error) {
        this.problem.textContent = `Invalid JSON: ${error.message}`;
        return null;
      }
    }
    const problems = [];
    const value = this.root.get(problems);
    if (problems.length > 0) this.fail(problems);
    return problems.length > 0 ? null : write(value ?? {});
  }

  /** The field at a pointer, or the nearest field around it. */
  around(pointer) {
    let at = pointer;
    while (at !== "" && !this.fields.has(at)) at = at.slice(0, at.lastIndexOf("/"));
    return this.fields.get(at);
  }

  /** The field of a violation. */
  place({ pointer, keyword, limit }) {
    return (keyword === "required" && this.fields.get(pointer + step(limit))) || this.around(pointer);
  }

  /** Shows violations at the fields that were touched. Returns the messages of the others, with their fields. */
  fail(violations) {
    this.#violations = violations;
    if (this.asJson.checked) return violations.map((one) => ({ text: one.pointer ? `${path(one.pointer)}: ${told(one)}` : told(one) }));
    const at = Map.groupBy(violations, (one) => this.place(one));
    for (const one of this.fields.values()) one.fail((at.get(one) ?? []).map((violation) => told(violation, one.pointer)));
    return [...at].filter(([one]) => !one.touched).flatMap(([one, found]) => found.map((violation) => ({
      text: `${path(one.pointer) || "parameters"}: ${told(violation, one.pointer)}`, field: one,
    })));
  }

  /** Shows the violations again after a field was touched. */
  again() {
    this.fail(this.#violations);
    this.left?.();
  }

  /** Shows all violations and moves the focus to the first. Returns true if there is one. */
  insist() {
    for (const one of this.fields.values()) one.touched = true;
    this.again();
    if (this.asJson.checked) {
      if (this.#violations.length > 0 || this.problem.textContent) this.raw.focus();
      return this.#violations.length > 0 || this.problem.textContent !== "";
    }
    const [first] = [...this.fields.values()].filter((one) => one.errors.childElementCount > 0);
    first?.focus();
    return first !== undefined;
  }
}
