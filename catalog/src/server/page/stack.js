// One stack: its labels, annotations and objects.

import { button, facts, h, link, once, time } from "./dom.js";
import { pager, table } from "./list.js";

/** A list of labels or annotations that can be changed. */
class Marks {
  constructor(session, { title, path, rows, text, key, inputs, body }) {
    Object.assign(this, { session, title, path, rows, text, key, inputs, body });
    this.list = h("ul", { class: "chips" });
    this.wrong = h("p", { class: "error", role: "alert" });
  }

  element(changes) {
    this.show(changes);
    const add = once(this.session.trying(() => this.add(changes)));
    const controls = this.inputs.map((name) => h("input", { "aria-label": name, placeholder: name, autocomplete: "off", spellcheck: "false" }));
    this.controls = controls;
    const form = h("form", { class: "beside", novalidate: true, onsubmit: add }, controls, h("button", { "aria-label": `Add to ${this.title}` }, "Add"));
    return h("section", {}, h("h2", {}, this.title), this.list, changes && [form, this.wrong]);
  }

  show(changes) {
    const remove = (row) => button("×", this.session.trying(() => this.remove(row)), { class: "small", "aria-label": `Remove ${this.text(row)}` });
    const items = this.rows.map((row) => h("li", {}, this.text(row), changes && remove(row)));
    this.list.replaceChildren(...(items.length > 0 ? items : [h("li", { class: "soft" }, "none")]));
  }

  async add(changes) {
    this.wrong.textContent = "";
    const texts = this.controls.map((control) => control.value.trim());
    const empty = texts.findIndex((text) => text === "");
    try {
      if (empty >= 0) throw new Error(`${this.inputs[empty]}: required.`);
      this.rows.push(await this.session.api.post(this.path, this.body(texts)));
      this.show(changes);
      for (const control of this.controls) control.value = "";
    } catch (error) {
      this.wrong.textContent = error.message;
    }
    this.controls[Math.max(empty, 0)].focus();
  }

  async remove(row) {
    await this.session.api.remove(`${this.path}/${encodeURIComponent(this.key(row))}`);
    this.rows = this.rows.filter((one) => one !== row);
    this.show(true);
    (this.list.querySelector("button") ?? this.controls[0]).focus();
  }
}

export async function stackView(session, { id }, { cursor }) {
  const { api } = session;
  const path = `/stacks/${id}`;
  const [stack, labels, annotations, objects] = await Promise.all([
    api.get(path), api.get(`${path}/labels`), api.get(`${path}/annotations`), api.page(`${path}/deployment-objects`, { cursor }),
  ]);
  await session.learn([stack.generator_id]);
  const changes = session.owns(stack.generator_id);
  const tags = new Marks(session, { title: "Labels", path: `${path}/labels`, rows: labels, text: (row) => row.label, key: (row) => row.label, inputs: ["Label"], body: ([label]) => label });
  const notes = new Marks(session, {
    title: "Annotations", path: `${path}/annotations`, rows: annotations, text: (row) => `${row.key} = ${row.value}`, key: (row) => row.key,
    inputs: ["Key", "Value"], body: ([key, value]) => ({ stack_id: id, key, value }),
  });
  return {
    title: stack.name,
    content: [
      h("p", { class: "trail" }, link("/stacks", "Stacks"), " / ", stack.name),
      h("div", { class: "title" }, h("h1", {}, stack.name), changes && link(`/templates?stack=${id}`, h("span", { class: "primary" }, "Use a template"))),
      stack.description && h("p", {}, stack.description),
      facts({ Owner: session.owner(stack.generator_id), Created: time(stack.created_at), ID: h("code", {}, stack.id) }),
      h("div", { class: "two" }, tags.element(changes), notes.element(changes)),
      h("h2", {}, "Objects"),
      listOf(objects.rows), pager(["stacks", id], { cursor }, objects.next),
    ],
  };
}

function listOf(rows) {
  if (rows.length === 0) return h("p", {}, "Nothing was deployed here yet.");
  const kind = (row) => (row.is_deletion_marker ? "deletion marker" : /^kind: *(\S+)/m.exec(row.yaml_content)?.[1] ?? "YAML");
  return table("Objects, newest first", [
    ["Object", (row) => link(`/objects/${row.id}`, `object ${row.sequence_id}`)],
    ["Content", kind],
    ["Submitted", (row) => time(row.submitted_at)],
    ["Checksum", (row) => h("code", {}, row.yaml_checksum.slice(0, 12)), { small: false }],
  ], rows);
}
