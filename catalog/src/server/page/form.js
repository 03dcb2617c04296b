// A form built from a JSON Schema. Every field has a value (`undefined` if absent) and shows its own errors. Values that
// the form cannot show are edited as JSON. Validation is left to the service.

import { freshId, h } from "./dom.js";
import { Spelled, isMap, parse, put, step, write } from "./json.js";

const MAX_DEPTH = 8;
const MAX_FIELDS = 500;
const MAX_REFERENCES = 20;
const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
const HINTS = [
  ["minimum", "at least"], ["exclusiveMinimum", "more than"], ["maximum", "at most"], ["exclusiveMaximum", "less than"],
  ["multipleOf", "multiple of"], ["minLength", "minimum length"], ["maxLength", "maximum length"],
  ["pattern", "pattern"], ["format", "format"], ["minItems", "minimum entries"], ["maxItems", "maximum entries"],
];

/** The target of a reference within the document. */
function target(reference, root) {
  try {
    const keys = decodeURIComponent(reference.slice(1)).split("/").slice(1);
    return keys.reduce((at, key) => at?.[key.replaceAll("~1", "/").replaceAll("~0", "~")], root);
  } catch {
    return undefined;
  }
}

/** Follows the references of a schema within the document and collects them in `seen`. */
function resolved(schema, root, seen = []) {
  let found = schema;
  for (let hops = 0; isMap(found) && typeof found.$ref === "string" && hops < MAX_REFERENCES; hops += 1) {
    const { $ref, ...beside } = found;
    seen.push($ref);
    const there = $ref.startsWith("#") ? target($ref, root) : undefined;
    found = isMap(there) ? { ...there, ...beside } : {};
  }
  return isMap(found) ? found : {};
}

/** The only type other than null, if there is one. */
function typeOf(schema) {
  const types = [schema.type ?? []].flat().filter((type) => type !== "null");
  if (types.length === 1) return types[0];
  return types.length === 0 && isMap(schema.properties) ? "object" : null;
}

/** The hint of a field: its type and bounds. */
function hints(schema, required) {
  const told = HINTS.filter(([keyword]) => schema[keyword] !== undefined);
  const texts = told.map(([keyword, words]) => `${words} ${write(schema[keyword]).replace(/^"(.*)"$/, "$1")}`);
  if (schema.uniqueItems === true) texts.push("unique entries");
  if (schema.default !== undefined) texts.push(`default ${write(schema.default)}`);
  const kind = schema.enum || schema.const !== undefined ? "choice" : typeOf(schema) ?? "any JSON";
  return [required ? "required" : "optional", kind, ...texts].join(" · ");
}

const secret = (schema) => schema.writeOnly === true || schema["x-secret"] === true;
const plain = (value) => (typeof value === "string" ? value : write(value));

class Field {
  constructor(form, schema, { name, pointer, required }) {
    Object.assign(this, { form, schema, name, pointer, required });
    this.errors = h("ul", { class: "errors", id: freshId() });
    this.hint = h("p", { class: "hint", id: freshId() }, hints(schema, required));
    this.about = schema.description ? h("p", { class: "about" }, String(schema.description)) : null;
    form.fields.set(pointer, this);
  }

  get title() {
    return typeof this.schema.title === "string" && this.schema.title ? `${this.name} (${this.schema.title})` : this.name;
  }

  /** The control with its label, hint and errors. */
  framed(control) {
    control.id = freshId();
    control.setAttribute("aria-describedby", `${this.hint.id} ${this.errors.id}`);
    control.dataset.pointer = this.pointer;
    control.addEventListener("input", this.form.changed);
    this.control = control;
    const label = h("label", { for: control.id }, this.title);
    this.element = h("div", { class: this.required ? "field required" : "field" }, label, this.about, control, this.hint, this.errors);
  }

  /** A group with a legend instead of a label. */
  grouped(...children) {
    const attributes = { "aria-describedby": `${this.hint.id} ${this.errors.id}`, "data-pointer": this.pointer };
    this.element = h("fieldset", attributes, h("legend", {}, this.title), this.about, this.hint, this.errors, ...children);
  }

  fail(messages) {
    this.errors.replaceChildren(...messages.map((message) => h("li", { class: "error" }, message)));
    this.control?.setAttribute("aria-invalid", String(messages.length > 0));
  }
}

class TextField extends Field {
  constructor(form, schema, at) {
    super(form, schema, at);
    const placeholder = schema.default === undefined ? null : plain(schema.default);
    const numeric = ["integer", "number"].includes(typeOf(schema));
    const attributes = { placeholder, autocomplete: "off", spellcheck: "false", "aria-required": String(at.required) };
    const long = typeOf(schema) === "string" && (schema.maxLength > 200 || plain(schema.default ?? "").includes("\n"));
    if (long && !secret(schema)) this.framed(h("textarea", { rows: "4", ...attributes }));
    else this.framed(h("input", { type: secret(schema) ? "password" : "text", inputmode: numeric ? "decimal" : null, ...attributes }));
    this.numeric = numeric;
  }

  get() {
    const text = this.control.value;
    if (text === "") return this.kept === "" ? "" : undefined;
    return this.numeric && NUMBER.test(text.trim()) ? new Spelled(text.trim()) : text;
  }

  set(value) {
    // An empty text from JSON differs from an absent value.
    this.kept = value;
    this.control.value = value === undefined ? "" : plain(value);
  }
}

class ChoiceField extends Field {
  constructor(form, schema, at, choices) {
    super(form, schema, at);
    this.choices = choices;
    const absent = schema.default === undefined ? "not set" : `not set: ${plain(schema.default)}`;
    const options = [absent, ...choices.map(plain)].map((text, index) => h("option", { value: String(index) }, text));
    this.framed(h("select", { "aria-required": String(at.required) }, options));
  }

  get() {
    return this.choices[Number(this.control.value) - 1];
  }

  set(value) {
    let found = this.choices.findIndex((choice) => value !== undefined && write(choice) === write(value));
    if (found < 0 && value !== undefined) {
      found = this.choices.push(value) - 1;
      this.control.append(h("option", { value: String(found + 1) }, plain(value)));
    }
    this.control.value = String(found + 1);
  }
}

class JsonField extends Field {
  constructor(form, schema, at) {
    super(form, schema, at);
    const placeholder = schema.default === undefined ? null : write(schema.default);
    this.framed(h("textarea", { rows: "3", spellcheck: "false", class: "code", placeholder }));
  }

  get(problems) {
    const text = this.control.value.trim();
    if (text === "") return undefined;
    try {
      return parse(text);
    } catch (error) {
      problems.push({ pointer: this.pointer, message: `invalid JSON: ${error.message}` });
      return undefined;
    }
  }

  set(value) {
    this.control.value = value === undefined ? "" : write(value);
  }
}

class MapField extends Field {
  constructor(form, schema, at, depth) {
    super(form, schema, at);
    const required = new Set(Array.isArray(schema.required) ? schema.required : []);
    const of = (key) => ({ name: key, pointer: at.pointer + step(key), required: required.has(key), above: at.above });
    this.children = Object.entries(schema.properties ?? {}).map(([key, child]) => [key, field(form, child, of(key), depth + 1)]);
    this.rest = h("p", { class: "hint" });
    this.grouped(this.rest, this.children.map(([, child]) => child.element));
    this.others = [];
  }

  get(problems) {
    const map = {};
    for (const [key, child] of this.children) {
      const value = child.get(problems);
      if (value !== undefined) put(map, key, value);
    }
    for (const [key, value] of this.others) put(map, key, value);
    return Object.keys(map).length > 0 || this.required ? map : undefined;
  }

  set(value) {
    const entries = isMap(value) ? new Map(Object.entries(value)) : new Map();
    for (const [key, child] of this.children) {
      child.set(entries.get(key));
      entries.delete(key);
    }
    this.others = [...entries];
    const names = this.others.map(([key]) => key).join(", ");
    this.rest.textContent = names && `Other properties (edit them as JSON): ${names}`;
  }
}

class ListField extends Field {
  constructor(form, schema, at, depth) {
    super(form, schema, at);
    this.depth = depth;
    this.items = [];
    this.list = h("div", { class: "items" });
    const add = () => {
      this.add().element.querySelector("input, select, textarea, button")?.focus();
      form.changed();
    };
    this.grouped(this.list, h("button", { type: "button", onclick: add }, `Add to ${this.name}`));
  }

  add() {
    const index = this.items.length;
    const at = { name: `${this.name} ${index + 1}`, pointer: this.pointer + step(index), required: true };
    const item = field(this.form, this.schema.items, at, this.depth + 1);
    this.items.push(item);
    const remove = () => this.remove(this.items.indexOf(item));
    this.list.append(h("div", { class: "item" }, item.element, h("button", { type: "button", onclick: remove }, `Remove ${at.name}`)));
    return item;
  }

  // Pointers and names contain indexes, so the remaining entries are created again.
  remove(index) {
    const values = this.items.map((item) => item.get([]));
    this.set(values.toSpliced(index, 1));
    this.element.querySelector(":scope > button").focus();
    this.form.changed();
  }

  clear() {
    for (const pointer of [...this.form.fields.keys()]) {
      if (pointer.startsWith(`${this.pointer}/`)) this.form.fields.delete(pointer);
    }
    this.items = [];
    this.list.replaceChildren();
  }

  get(problems) {
    // Empty entries are sent too, so that the service reports them.
    const values = this.items.map((item) => item.get(problems) ?? (item instanceof TextField ? "" : null));
    return values.length > 0 || this.required ? values : undefined;
  }

  set(value) {
    this.clear();
    for (const item of Array.isArray(value) ? value : []) this.add().set(item);
  }
}

/** Creates the field of a schema. `above` contains the references followed so far, which stops recursive schemas. */
function field(form, given, { above = ["#"], ...place }, depth = 0) {
  const followed = [];
  const schema = resolved(given, form.schema, followed);
  const at = { ...place, above: [...above, ...followed] };
  const endless = followed.some((reference) => above.includes(reference));
  if (endless || depth > MAX_DEPTH || form.fields.size > MAX_FIELDS) return new JsonField(form, schema, at);
  if (Array.isArray(schema.enum)) return new ChoiceField(form, schema, at, [...schema.enum]);
  if (schema.const !== undefined) return new ChoiceField(form, schema, at, [schema.const]);
  switch (typeOf(schema)) {
    case "boolean": return new ChoiceField(form, schema, at, [true, false]);
    case "string": case "integer": case "number": return new TextField(form, schema, at);
    case "object": if (isMap(schema.properties)) return new MapField(form, schema, at, depth); break;
    case "array": if (isMap(schema.items)) return new ListField(form, schema, at, depth); break;
    default:
  }
  return new JsonField(form, schema, at);
}

/** Returns true if fields can show a value. */
function fits(value, given, root, depth = 0) {
  const schema = resolved(given, root);
  if (value === undefined || depth > MAX_DEPTH || Array.isArray(schema.enum) || schema.const !== undefined) return true;
  switch (typeOf(schema)) {
    case "boolean": return true;
    case "string": return typeof value === "string";
    case "integer": case "number": return value instanceof Spelled || typeof value === "number" || (typeof value === "string" && !NUMBER.test(value));
    case "object": return !isMap(schema.properties)
      || (isMap(value) && Object.entries(value).every(([key, item]) => fits(item, Object.getOwnPropertyDescriptor(schema.properties, key)?.value, root, depth + 1)));
    case "array": return !isMap(schema.items) || (Array.isArray(value) && value.every((item) => fits(item, schema.items, root, depth + 1)));
    default: return true;
  }
}

/** A form for parameters: fields, or JSON text. Calls `changed` at every change. */
export class Form {
  constructor(schema, changed) {
    this.schema = isMap(schema) ? schema : {};
    this.changed = changed;
    this.fields = new Map();
    this.problem = h("p", { class: "error", role: "alert" });
    this.root = field(this, this.schema, { name: "Parameters", pointer: "", required: true });
    this.raw = h("textarea", { rows: "12", class: "code", spellcheck: "false", "aria-label": "Parameters as JSON", oninput: changed, hidden: true });
    this.asJson = h("input", { type: "checkbox", id: freshId(), onchange: () => this.switched() });
    const choice = h("div", { class: "choice" }, this.asJson, h("label", { for: this.asJson.id }, "Edit as JSON"));
    this.element = h("form", { id: "parameters", novalidate: true, onsubmit: (event) => event.preventDefault() },
      choice, this.problem, this.root.element, this.raw);
    if (this.root instanceof JsonField) this.show("{}");
  }

  show(text) {
    this.asJson.checked = true;
    this.raw.value = text;
    this.raw.hidden = false;
    this.root.element.hidden = true;
  }

  switched() {
    this.problem.textContent = "";
    if (this.asJson.checked) this.show(write(this.root.get([]) ?? {}));
    else this.shown();
    this.changed();
  }

  /** Switches from JSON to fields, if fields can show everything. */
  shown() {
    let why = "";
    try {
      const value = parse(this.raw.value);
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
        JSON.parse(this.raw.value);
        this.problem.textContent = "";
        return this.raw.value;
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

  /** The field of a violation, or the nearest field around it. */
  place({ pointer, keyword, limit }) {
    const missing = keyword === "required" && this.fields.get(pointer + step(limit));
    let around = pointer;
    while (around !== "" && !this.fields.has(around)) around = around.slice(0, around.lastIndexOf("/"));
    return missing || this.fields.get(around);
  }

  /** Shows violations at their fields. Returns those not shown: all of them while editing JSON. */
  fail(violations) {
    const shown = this.asJson.checked ? [] : violations;
    const at = Map.groupBy(shown, (violation) => this.place(violation));
    const told = (one, { pointer, message }) => (pointer.length > one.pointer.length ? `${pointer}: ${message}` : message);
    for (const one of this.fields.values()) one.fail((at.get(one) ?? []).map((violation) => told(one, violation)));
    return this.asJson.checked ? violations : [];
  }
}
