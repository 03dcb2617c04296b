// A template version: its details, a form for parameters, the result, and comparisons.

import { shownDiff, shownUnified } from "./diff.js";
import { debounced, freshId, h, labelled, numbered } from "./dom.js";
import { Form } from "./form.js";
import { parse, write } from "./json.js";

const TYPING = 250;

/** A list of errors. `about` creates the notes of each. */
function listed(errors, about = () => []) {
  return h("ul", { class: "errors" }, errors.map((error) => h("li", { class: "error" }, error.message, about(error))));
}

/** Notes about an error: missing labels and annotations, help, available names. */
function more({ details }) {
  const missing = [
    ...(details?.missing_labels ?? []).map((label) => `missing label ${label}`),
    ...(details?.missing_annotations ?? []).map(([key, value]) => `missing annotation ${key} = ${value}`),
  ];
  const diagnostics = details?.diagnostics ?? [];
  const help = diagnostics.flatMap((one) => [one.help, one.available?.length > 0 && `available: ${one.available.join(", ")}`]);
  const texts = [...missing, ...help.filter(Boolean).flat()];
  return notes(texts);
}

const notes = (texts) => texts.map((text) => h("span", { class: "note" }, text));

/** Diagnostic messages by line of the template. */
function marks(errors) {
  const lines = new Map();
  for (const one of errors.flatMap((error) => error.details?.diagnostics ?? [])) {
    if (one.line) lines.set(one.line, [...(lines.get(one.line) ?? []), one.message]);
  }
  return lines;
}

/** An error and those reported with it. */
const withOthers = (error) => [error, ...(error.details?.also ?? [])];

function section(title, open, ...children) {
  return h("details", { open }, h("summary", {}, title), ...children);
}

export class TemplateView {
  constructor(catalog, versions, version, trying) {
    Object.assign(this, { catalog, api: catalog.api, versions, version, trying, asked: 0 });
  }

  async load() {
    const { id } = this.version;
    const all = [this.api.labels(id), this.api.annotations(id), this.api.stacks()];
    [this.labels, this.annotations, this.stacks] = await Promise.all(all);
  }

  show(place) {
    this.defaults = h("input", { type: "checkbox", id: freshId(), checked: true, onchange: () => this.changed() });
    this.stack = h("select", { id: "stack", onchange: () => this.changed() },
      h("option", { value: "" }, "no stack"), this.stacks.map((stack) => h("option", { value: stack.id }, stack.name)));
    this.state = h("p", { id: "state", role: "status" });
    this.result = h("div", { id: "result" });
    this.content = h("div", { id: "content" });
    const later = debounced(TYPING, () => this.live());
    this.typed = () => {
      this.stored.replaceChildren();
      later();
    };
    this.form = new Form(this.schema(), this.typed);
    place.replaceChildren(this.head(), this.source(), this.work(), this.comparison(), this.future());
    this.mark([]);
    this.live();
  }

  schema() {
    try {
      return parse(this.version.parameters_schema);
    } catch {
      return {};
    }
  }

  head() {
    const { version, catalog } = this;
    const option = (row) => h("option", { value: row.id, selected: row.id === version.id }, `version ${row.version}`);
    const choose = this.trying((event) => catalog.open(this.versions, this.versions.find((row) => row.id === event.target.value)));
    const facts = { Owner: catalog.owner(version.generator_id), Created: new Date(version.created_at).toLocaleString(), ID: version.id, Checksum: version.checksum };
    return h("section", { class: "panel" }, h("h2", {}, version.name), version.description && h("p", {}, version.description),
      labelled("Version", h("select", { id: "version", onchange: choose }, this.versions.map(option))),
      h("dl", {}, Object.entries(facts).map(([name, fact]) => [h("dt", {}, name), h("dd", {}, fact)])), this.rules());
  }

  rules() {
    const rules = [...this.labels.map((row) => row.label), ...this.annotations.map((row) => `${row.key} = ${row.value}`)];
    if (rules.length === 0) return h("p", {}, "Matches every stack.");
    return h("div", {}, h("h3", {}, "Required of stacks"), h("ul", { class: "marks", id: "rules" }, rules.map((rule) => h("li", {}, rule))));
  }

  source() {
    let schema = this.version.parameters_schema;
    try {
      schema = write(parse(schema));
    } catch { /* Shown unformatted. */ }
    return h("section", { class: "two" }, section("Template", true, this.content),
      section("Schema", false, numbered(schema, new Map(), "The schema")));
  }

  work() {
    const choice = h("div", { class: "choice" }, this.defaults, h("label", { for: this.defaults.id }, "Fill in schema defaults"));
    this.store = h("button", { type: "button", id: "instantiate", onclick: this.trying(() => this.instantiate()) }, "Instantiate");
    this.stored = h("div", { id: "stored", role: "status" });
    const left = h("section", { class: "panel" }, h("h3", {}, "Parameters"), choice, this.form.element);
    const right = h("section", { class: "panel" }, h("h3", {}, "Result"), labelled("Stack", this.stack), this.state, this.result, this.store, this.stored);
    return h("div", { class: "two" }, left, right);
  }

  mark(errors) {
    this.content.replaceChildren(numbered(this.version.template_content, marks(errors), "The template"));
  }

  options() {
    return { stack: this.stack.value, defaults: this.defaults.checked };
  }

  /** Renders again after a choice and clears the message about a stored object. */
  changed() {
    this.stored.replaceChildren();
    this.live();
  }

  /** Renders the parameters of the form. Only the latest response is shown. */
  async live() {
    this.asked += 1;
    const { asked } = this;
    this.store.disabled = true;
    const parameters = this.form.text();
    if (parameters === null) {
      this.state.textContent = "The parameters are not valid JSON.";
      this.result.replaceChildren();
      return;
    }
    let answer;
    try {
      answer = await this.api.stamp(this.version.id, parameters, this.options());
    } catch (error) {
      answer = { status: error.status ?? 0, errors: [error] };
    }
    if (asked === this.asked) this.answered(answer);
  }

  answered({ status, yaml_content: text, errors = [], warnings = [] }) {
    this.store.disabled = status !== 200 || this.stack.value === "" || this.catalog.who.readonly;
    this.state.textContent = text === undefined ? "Cannot render:" : "Preview. Nothing is stored.";
    this.result.replaceChildren(...this.showErrors(errors));
    if (warnings.length > 0) this.result.append(h("p", {}, "Warnings"), listed(warnings));
    if (text !== undefined) this.result.append(numbered(text, new Map(), "Rendered text"));
  }

  /** Shows errors at their places and returns the list of the others. */
  showErrors(errors) {
    this.mark(errors);
    const nowhere = this.form.fail(errors.flatMap((error) => error.details?.violations ?? []));
    const rest = (error) => {
      const unplaced = nowhere.filter((one) => error.details?.violations?.includes(one));
      const told = error.details?.violations ? [] : error.details?.validation_errors ?? [];
      const texts = [...unplaced.map((one) => (one.pointer ? `${one.pointer}: ${one.message}` : one.message)), ...told];
      return [...notes(texts), ...more(error)];
    };
    return errors.length > 0 ? [listed(errors, rest)] : [];
  }

  async instantiate() {
    const parameters = this.form.text();
    if (parameters === null || this.store.disabled) return;
    this.store.disabled = true;
    try {
      const object = await this.api.instantiate(this.version.id, parameters, this.options());
      const name = this.stack.selectedOptions[0].textContent;
      this.stored.replaceChildren(h("p", { class: "done" }, `Created object ${object.id} in ${name}, checksum ${object.yaml_checksum}.`));
    } catch (error) {
      this.stored.replaceChildren(...this.showErrors(withOthers(error)));
    } finally {
      this.store.disabled = false;
    }
  }

  comparison() {
    const others = this.versions.filter((row) => row.id !== this.version.id);
    if (others.length === 0) return section("Compare", false, h("p", {}, "There are no other versions."));
    const other = h("select", { id: "other" }, others.map((row) => h("option", { value: row.id }, `version ${row.version}`)));
    const [state, place] = [h("p", { role: "status" }), h("div", { id: "difference" })];
    const compare = this.trying(async () => {
      const before = others.find((row) => row.id === other.value);
      place.replaceChildren(...await this.differences(before));
      state.textContent = `Version ${before.version} → version ${this.version.version}`;
    });
    const button = h("button", { type: "button", id: "compare", onclick: compare }, "Compare");
    return section("Compare", false, labelled("With", other), button, state, place);
  }

  async differences(before) {
    const after = this.version;
    const part = (title, key) => [h("h3", {}, title), shownDiff(before[key], after[key], `${title}: diff`)];
    const parts = [...part("Template", "template_content"), ...part("Schema", "parameters_schema"), h("h3", {}, "Result with these parameters")];
    const parameters = this.form.text();
    if (parameters === null) return [...parts, h("p", { class: "error" }, "The parameters are not valid JSON.")];
    const stamp = (row) => this.api.stamp(row.id, parameters, { stack: "", defaults: this.defaults.checked });
    const answers = await Promise.all([before, after].map(stamp));
    if (answers.every((answer) => answer.status === 200)) {
      return [...parts, shownDiff(answers[0].yaml_content, answers[1].yaml_content, "Result: diff")];
    }
    const about = (error) => [...notes(error.details?.validation_errors ?? []), ...more(error)];
    const failure = (answer, row) => answer.status !== 200
      && h("div", {}, h("p", {}, `Version ${row.version} cannot be rendered:`), listed(answer.errors, about));
    return [...parts, failure(answers[0], before), failure(answers[1], after)].filter(Boolean);
  }

  future() {
    const [state, place] = [h("p", { role: "status" }), h("div", { id: "changes" })];
    const look = this.trying(async () => {
      const changes = await this.api.changes(this.version.id);
      state.textContent = `${changes.unchanged} of ${changes.instances} objects would not change.`;
      place.replaceChildren(...changes.changes.map((change) => this.change(change)));
    });
    return section("Preview changes", false,
      h("p", {}, "Renders the newest object of every stack again with this version."),
      h("button", { type: "button", id: "look", onclick: look }, "Preview"), state, place);
  }

  change({ instances, diff, errors }) {
    const name = (id) => this.stacks.find((stack) => stack.id === id)?.name ?? id;
    const where = instances.map((one) => `${name(one.stack_id)} (version ${one.template_version})`).join(", ");
    const count = instances.length === 1 ? "1 object" : `${instances.length} objects`;
    return h("section", {}, h("h3", {}, `${count}: ${where}`), errors ? listed(errors, more) : shownUnified(diff ?? "", `Changes: ${where}`));
  }
}
