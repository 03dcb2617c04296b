// A form that makes a template, or the next version of one. The service checks it while it is written.

import { command } from "./code.js";
import { debounced, freshId, h, labelled, link, once } from "./dom.js";
import { listed, warned } from "./errors.js";
import { formatted } from "./json.js";
import { go } from "./router.js";

const TYPING = 400;
const EXAMPLE = {
  name: "web",
  template: "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {{ service_name }}\nspec:\n  replicas: {{ replicas }}\n",
  schema: `{
  "type": "object",
  "required": ["service_name"],
  "properties": {
    "service_name": { "type": "string", "minLength": 1, "maxLength": 63 },
    "replicas": { "type": "integer", "minimum": 1, "maximum": 20, "default": 2 }
  }
}`,
};

/** The field that an error of the service is about. */
const FIELDS = {
  invalid_name: "name", unique_violation: "name", invalid_description: "description", invalid_template_syntax: "template",
  invalid_template_content: "template", invalid_parameters_schema: "schema", invalid_label: "labels",
};

export class EditForm {
  #asked = 0;

  /** Makes a version from `version`, if `newest` is still the newest one. Makes a new template without them. */
  constructor(session, version = null, newest = null) {
    Object.assign(this, { session, version, newest });
    const area = (rows, value) => h("textarea", { rows, class: "mono", spellcheck: "false" }, value);
    this.fields = {
      ...(!version && { name: h("input", { autocomplete: "off", spellcheck: "false" }) }),
      description: h("input", { value: version?.description ?? "", autocomplete: "off" }),
      template: area("14", version?.template_content ?? ""),
      schema: area("14", version ? formatted(version.parameters_schema) : "{}"),
      ...(!version && { labels: area("2", "") }),
    };
    this.wrong = {};
    this.review = h("div", { role: "status" });
    const later = debounced(TYPING, session.trying(() => this.check()));
    for (const name of ["template", "schema"]) this.fields[name].addEventListener("input", later);
    for (const control of Object.values(this.fields)) control.addEventListener("input", () => this.tell(control, null));
  }

  element() {
    const { version } = this;
    const example = h("button", { type: "button", class: "link", onclick: () => this.example() }, "Fill in an example");
    return h("form", { class: "panel edit", novalidate: true, onsubmit: once(this.session.trying(() => this.save())) },
      version ? h("p", { class: "soft" }, `Starts from version ${version.version}, and keeps its labels and annotations.`) : h("p", {}, example),
      this.framed("name", "Name"),
      this.framed("description", "Description", "optional"),
      h("div", { class: "two" },
        this.framed("template", "Template", "Tera: {{ name }} inserts a parameter."),
        this.framed("schema", "Schema of the parameters", "JSON Schema. The form of the template is made from it.")),
      this.framed("labels", "Only for stacks with these labels", "optional · one on each line, such as env=prod"),
      this.review,
      h("p", {}, h("button", { class: "primary" }, version ? "Create version" : "Create template")));
  }

  framed(name, title, hint) {
    const control = this.fields[name];
    if (!control) return null;
    const field = labelled(title, control, hint);
    this.wrong[name] = h("div", { id: freshId() });
    const about = control.getAttribute("aria-describedby");
    control.setAttribute("aria-describedby", [about, this.wrong[name].id].filter(Boolean).join(" "));
    field.append(this.wrong[name]);
    return field;
  }

  example() {
    for (const [name, text] of Object.entries(EXAMPLE)) {
      this.fields[name].value = text;
      this.tell(this.fields[name], null);
    }
    this.fields.name.focus();
    return this.session.trying(() => this.check())();
  }

  /** Shows what is wrong with a field, or that nothing is. */
  tell(control, content) {
    const [name] = Object.entries(this.fields).find(([, field]) => field === control);
    this.wrong[name].replaceChildren(content ?? "");
    control.setAttribute("aria-invalid", String(Boolean(content)));
  }

  texts() {
    return { template_content: this.fields.template.value, parameters_schema: this.fields.schema.value };
  }

  /** Checks the template against its schema. */
  async check() {
    this.#asked += 1;
    const asked = this.#asked;
    if (this.fields.template.value.trim() === "") return;
    try {
      const { findings } = await this.session.api.post("/templates/check", this.texts());
      if (asked !== this.#asked) return;
      for (const name of ["template", "schema"]) this.tell(this.fields[name], null);
      const none = h("p", { class: "good" }, "The template and its schema agree.");
      this.review.replaceChildren(...(findings.length > 0 ? [h("p", {}, "To consider:"), warned(findings)] : [none]));
    } catch (error) {
      if (asked !== this.#asked) return;
      this.review.replaceChildren();
      this.failed(error, false);
    }
  }

  /** Shows an error of the service at its field. */
  failed(error, moves = true) {
    const control = this.fields[FIELDS[error.code]];
    if (!control) throw error;
    this.tell(control, listed([error]));
    if (moves) control.focus();
  }

  missing() {
    const needs = [["name", "Give the template a name."], ["template", "Write the template."], ["schema", "Write the schema: {} allows any parameters."]];
    const empty = needs.filter(([name]) => this.fields[name]?.value.trim() === "");
    for (const [name, text] of empty) this.tell(this.fields[name], h("p", { class: "error" }, text));
    if (empty.length > 0) this.fields[empty[0][0]].focus();
    return empty.length > 0;
  }

  async save() {
    if (this.missing()) return;
    const description = this.fields.description.value.trim();
    const texts = { ...this.texts(), ...(description && { description }) };
    try {
      const made = this.version ? await this.session.api.update(this.version.id, texts, this.newest) : await this.create(texts);
      await go(`/templates/${made.id}`, { say: `Created version ${made.version} of ${made.name}.` });
    } catch (error) {
      this.failed(error);
    }
  }

  create(texts) {
    const labels = this.fields.labels.value.split("\n").map((line) => line.trim()).filter(Boolean);
    return this.session.api.post("/templates", { name: this.fields.name.value.trim(), ...texts, labels });
  }
}

/** The command that makes a template. */
export function createCommands() {
  return h("section", { class: "panel" }, h("h2", {}, "From the command line"),
    command(`export DROPFORGE_SERVER=${location.origin} DROPFORGE_KEY=$(cat my.key)`),
    command("dropforge catalog create web web.tera --schema web.schema.json"));
}

export function newTemplateView(session) {
  return {
    title: "New template",
    wide: true,
    content: [h("p", { class: "trail" }, link("/templates", "Templates"), " / new"), h("h1", {}, "New template"), new EditForm(session).element(), createCommands()],
  };
}
