// Fields built from a JSON Schema. Every field has a value (`undefined` if absent) and shows its own errors once it was
// touched. Values that no field can show are edited as JSON.

import { button, freshId, h } from "./dom.js";
import { Spelled, isMap, parse, put, step, write } from "./json.js";
import { MAX_DEPTH, NUMBER, isSecret, resolved, typeOf } from "./schema.js";
import { hint, plain } from "./words.js";

const MAX_FIELDS = 500;
const MAX_CHOICES = 500;

class Field {
  constructor(form, schema, { name, pointer, required, within = "", secret = false }) {
    Object.assign(this, { form, schema, name, pointer, required, within, secret, touched: false });
    this.errors = h("ul", { class: "errors", id: freshId() });
    this.hint = h("p", { class: "hint", id: freshId() }, hint(schema, this.need(), this instanceof JsonField));
    this.about = schema.description ? h("p", { class: "about" }, String(schema.description)) : null;
    form.fields.set(pointer, this);
  }

  /** True once the field, or one inside it, was typed in or left. */
  get touched() {
    return this.own || this.inside().some((field) => field.touched);
  }

  set touched(value) {
    this.own = value;
  }

  inside() {
    return [];
  }

  /** A property of an optional group is only required if the group is given. */
  need() {
    if (!this.required) return "optional";
    return this.within ? `required if ${this.within} is given` : "required";
  }

  get title() {
    return typeof this.schema.title === "string" && this.schema.title ? `${this.name} (${this.schema.title})` : this.name;
  }

  /** The control with its label, hint and errors. */
  framed(control) {
    control.id = freshId();
    control.setAttribute("aria-describedby", `${this.hint.id} ${this.errors.id}`);
    control.dataset.pointer = this.pointer;
    control.addEventListener("input", () => {
      this.touched = true;
      this.form.changed();
    });
    control.addEventListener("blur", () => this.leave());
    this.control = control;
    const label = h("label", { for: control.id }, this.title);
    const shown = this.secret && this.masked();
    this.element = h("div", { class: this.required && !this.within ? "field required" : "field" }, label, this.about, shown || control, this.hint, this.errors);
  }

  /** The control of a secret, with a button that shows what was typed. */
  masked() {
    const { control } = this;
    control.classList.add("masked");
    const show = button("Show", () => {
      const hidden = control.classList.toggle("masked");
      if (control.tagName === "INPUT") control.type = hidden ? "password" : "text";
      show.setAttribute("aria-pressed", String(!hidden));
    }, { class: "small", "aria-pressed": "false", "aria-label": `Show ${this.name}` });
    return h("div", { class: "beside" }, control, show);
  }

  /** A group with a legend instead of a label. */
  grouped(...children) {
    const attributes = { "aria-describedby": `${this.hint.id} ${this.errors.id}`, "data-pointer": this.pointer };
    this.element = h("fieldset", attributes, h("legend", {}, this.title), this.about, this.hint, this.errors, ...children);
  }

  /** Errors are shown from the first time a field was left. */
  leave() {
    if (this.touched) return;
    this.touched = true;
    this.form.again();
  }

  focus() {
    (this.control ?? this.element.querySelector("input, select, textarea, button"))?.focus();
  }

  fail(messages) {
    const shown = this.touched ? messages : [];
    this.errors.replaceChildren(...shown.map((message) => h("li", { class: "error" }, message)));
    this.control?.setAttribute("aria-invalid", String(shown.length > 0));
  }
}

class TextField extends Field {
  constructor(form, schema, at) {
    super(form, schema, at);
    const placeholder = schema.default === undefined ? null : plain(schema.default);
    this.numeric = ["integer", "number"].includes(typeOf(schema));
    const attributes = { placeholder, autocomplete: "off", spellcheck: "false", "aria-required": String(at.required) };
    const long = typeOf(schema) === "string" && (schema.maxLength > 200 || plain(schema.default ?? "").includes("\n"));
    if (long) this.framed(h("textarea", { rows: "4", ...attributes }));
    else this.framed(h("input", { type: this.secret ? "password" : "text", inputmode: this.numeric ? "decimal" : null, ...attributes }));
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
    this.framed(h("textarea", { rows: "3", spellcheck: "false", class: "mono", placeholder }));
  }

  get(problems) {
    const text = this.control.value.trim();
    if (text === "") return undefined;
    try {
      return parse(text);
    } catch (error) {
      // The parser quotes what it read.
      problems.push({ pointer: this.pointer, message: this.secret ? "invalid JSON" : `invalid JSON: ${error.message}` });
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
    const of = (key) => ({ name: key, pointer: at.pointer + step(key), required: required.has(key), above: at.above, secret: at.secret, within: at.required ? at.within : at.name });
    // Further properties can only be edited as JSON.
    this.children = Object.entries(schema.properties ?? {}).slice(0, MAX_FIELDS).map(([key, child]) => [key, field(form, child, of(key), depth + 1)]);
    this.rest = h("p", { class: "hint" });
    this.grouped(this.rest, this.children.map(([, child]) => child.element));
    this.others = [];
  }

  inside() {
    return (this.children ?? []).map(([, child]) => child);
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
    this.adder = button(`Add to ${this.name}`, () => {
      this.touched = true;
      this.kept = false;
      this.add().focus();
      form.changed();
    });
    this.grouped(this.list, this.adder);
  }

  add() {
    const index = this.items.length;
    const at = { name: `${this.name} ${index + 1}`, pointer: this.pointer + step(index), required: true, secret: this.secret };
    const item = field(this.form, this.schema.items, at, this.depth + 1);
    this.items.push(item);
    const remove = button("Remove", () => this.remove(this.items.indexOf(item)), { class: "small", "aria-label": `Remove ${at.name}` });
    this.list.append(h("div", { class: "item" }, item.element, remove));
    return item;
  }

  // Pointers and names contain indexes, so the remaining entries are created again.
  remove(index) {
    this.touched = true;
    const values = this.items.map((item) => item.get([]));
    const touched = this.items.map((item) => item.touched).toSpliced(index, 1);
    this.set(values.toSpliced(index, 1));
    this.kept = false;
    this.items.forEach((item, at) => { item.touched = touched[at]; });
    (this.items[index] ?? this.items.at(-1))?.focus();
    if (this.items.length === 0) this.adder.focus();
    this.form.changed();
  }

  inside() {
    return this.items ?? [];
  }

  focus() {
    (this.items[0] ?? this.adder).focus();
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
    return values.length > 0 || this.required || this.kept ? values : undefined;
  }

  set(value) {
    this.clear();
    // An empty list from JSON differs from an absent value.
    this.kept = Array.isArray(value);
    for (const item of Array.isArray(value) ? value : []) this.add().set(item);
  }
}

/** The values of a schema, if they are few. */
function choicesOf(schema) {
  if (Array.isArray(schema.enum)) return [...schema.enum];
  if (schema.const !== undefined) return [schema.const];
  return typeOf(schema) === "boolean" ? [true, false] : null;
}

/** Creates the field of a schema. `above` contains the references followed so far, which stops recursive schemas. */
export function field(form, given, { above = ["#"], ...place }, depth = 0) {
  const followed = [];
  const schema = resolved(given, form.schema, followed);
  const secret = place.secret || isSecret(schema);
  const at = { ...place, secret, above: [...above, ...followed] };
  const endless = followed.some((reference) => above.includes(reference));
  if (endless || depth > MAX_DEPTH || form.fields.size > MAX_FIELDS) return new JsonField(form, schema, at);
  const choices = choicesOf(schema);
  // A choice cannot be masked.
  if (choices && choices.length <= MAX_CHOICES && !secret) return new ChoiceField(form, schema, at, choices);
  switch (typeOf(schema)) {
    case "string": case "integer": case "number": return new TextField(form, schema, at);
    case "object": if (isMap(schema.properties)) return new MapField(form, schema, at, depth); break;
    case "array": if (isMap(schema.items)) return new ListField(form, schema, at, depth); break;
    default:
  }
  return new JsonField(form, schema, at);
}
