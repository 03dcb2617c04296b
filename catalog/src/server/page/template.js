// A template version: its facts, and views of it, each with an address.

import { changes } from "./changes.js";
import { code } from "./code.js";
import { Comparison, shownContent } from "./compare.js";
import { button, chips, facts, h, labelled, link, time } from "./dom.js";
import { EditForm } from "./edit.js";
import { marks } from "./errors.js";
import { formatted } from "./json.js";
import { address, go } from "./router.js";
import { Workbench } from "./use.js";

/** Goes to the newest version of a name. */
export async function namedView(session, { owner, name }, query) {
  const version = await session.api.get(`/templates/newest?${new URLSearchParams({ name, owner })}`);
  return shown(session, version, query);
}

export async function templateView(session, { id }, query) {
  return shown(session, await session.api.get(`/templates/${id}`), query);
}

/** The view of a version. Its form stays as it was left, and another version takes over its parameters. */
async function shown(session, version, query) {
  const { kept } = session;
  if (kept?.version.id !== version.id || query.stack) {
    const view = new TemplateView(session, version);
    await view.load(query);
    const same = kept?.version.name === version.name && kept.version.generator_id === version.generator_id;
    if (same) view.bench.form.adopt(kept.bench.form.value());
    session.kept = view;
    await view.build();
  }
  return session.kept.show(query);
}

class TemplateView {
  constructor(session, version) {
    Object.assign(this, { session, api: session.api, version });
    this.content = h("div", { id: "content" });
    this.panels = new Map();
  }

  async load({ stack }) {
    const { id, generator_id: owner } = this.version;
    const [labels, annotations, versions] = await Promise.all([
      this.api.get(`/templates/${id}/labels`), this.api.get(`/templates/${id}/annotations`),
      this.api.page(`/templates/${id}/versions`), this.session.learn([owner]),
    ]);
    Object.assign(this, { labels, annotations, versions: versions.rows, older: versions.next });
    if (!this.versions.some((row) => row.id === id)) this.versions.push(this.version);
    this.bench = new Workbench(this.session, this.version, { stack, marked: (errors) => this.mark(errors) });
  }

  async build() {
    this.mark([]);
    this.use = await this.bench.element();
  }

  mark(errors) {
    const { name } = this.version;
    const text = shownContent(this.version);
    this.content.replaceChildren(code(text, { name: "Template", language: "tera", file: `${name}.tera`, marks: marks(errors) }));
  }

  /** The views: name of the address, title, content. */
  views() {
    const all = [
      ["", "Use", () => this.use],
      ["source", "Source", () => this.source()],
      ["compare", "Compare", (query) => new Comparison(this).element(query)],
      ["changes", "Preview changes", () => changes(this)],
    ];
    const edit = ["edit", "New version", () => new EditForm(this.session, this.version, this.versions[0].id).element()];
    // Packed charts come from the command line.
    const isText = this.version.language !== "helm";
    return isText && this.session.owns(this.version.generator_id) ? [...all, edit] : all;
  }

  /** The address of a view of a version. */
  at(id, view, query = {}) {
    return address(["templates", id], { view, ...query });
  }

  async show(query) {
    const views = this.views();
    const chosen = views.find(([name]) => name === (query.view ?? "")) ?? views[0];
    const { version } = this;
    const [name] = chosen;
    if (!this.panels.has(name) || name === "compare") this.panels.set(name, await chosen[2](query));
    const links = views.map(([view, title]) => h("a", { href: this.at(version.id, view), "aria-current": view === name ? "page" : null }, title));
    return {
      title: `${version.name}, version ${version.version}`,
      wide: true,
      focus: this.refocus(),
      content: [h("p", { class: "trail" }, link("/templates", "Templates"), " / ", version.name),
        this.head(name), h("nav", { class: "views", "aria-label": "Views of this version" }, links), this.panels.get(name)],
    };
  }

  /** The focus stays on the choice of the version, or on the view that was chosen. */
  refocus() {
    if (document.activeElement?.id === "version") return "#version";
    return document.activeElement?.closest(".views") ? ".views [aria-current]" : "h1";
  }

  /** The choice of the version. Older ones are added on demand. */
  choice(view) {
    const [newest, present] = [this.versions[0].id, this.version.id];
    const option = (row) => h("option", { value: row.id, selected: row.id === present }, `version ${row.version}${row.id === newest ? " (newest)" : ""}`);
    const select = h("select", { id: "version", onchange: (event) => go(this.at(event.target.value, view)) }, this.versions.map(option));
    const more = button("Older versions", this.session.trying(async () => {
      const page = await this.api.page(`/templates/${present}/versions`, { cursor: this.older });
      const all = [...this.versions, ...page.rows.filter((row) => row.id !== present)];
      this.versions = all.toSorted((a, b) => b.version - a.version);
      this.older = page.next;
      select.replaceChildren(...this.versions.map(option));
      select.focus();
      more.hidden = !this.older;
    }), { class: "link", hidden: !this.older });
    return h("div", { class: "beside" }, labelled("Version", select), more);
  }

  head(view) {
    const { version, session } = this;
    const rules = [...this.labels.map((row) => row.label), ...this.annotations.map((row) => `${row.key} = ${row.value}`)];
    return h("section", { class: "head" },
      h("div", { class: "title" }, h("h1", {}, version.name), this.choice(view)),
      version.description && h("p", {}, version.description),
      facts({ Owner: session.owner(version.generator_id), Created: time(version.created_at) }),
      rules.length === 0 ? h("p", { class: "soft" }, "Fits every stack.")
        : h("div", { class: "rules" }, h("span", { class: "soft" }, "Fits stacks with"), chips(rules, { id: "rules" })));
  }

  source() {
    const { version } = this;
    const schema = code(version.parameters_schema, { name: "Schema", language: "json", file: `${version.name}.schema.json`, shown: formatted(version.parameters_schema) });
    return h("div", { class: "stacked" }, h("div", { class: "two" }, this.content, schema),
      facts({ ID: h("code", {}, version.id), Checksum: h("code", {}, version.checksum) }));
  }
}
