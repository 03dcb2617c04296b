// The list of templates. The service searches and sends one page at a time.

import { debounced, h, labelled, link, refill, time } from "./dom.js";
import { EditForm, createCommands } from "./edit.js";
import { pager, table } from "./list.js";
import { address, rename } from "./router.js";

const TYPING = 200;

class TemplateList {
  #asked = 0;

  constructor(session, { search = "", cursor, stack }) {
    Object.assign(this, { session, search, cursor, stack });
    this.place = h("div", { id: "templates" });
    this.state = h("p", { role: "status", class: "soft", id: "found" });
    this.box = h("input", { type: "search", value: search, autocomplete: "off", spellcheck: "false", oninput: debounced(TYPING, session.trying(() => this.searched())) });
  }

  async load() {
    this.#asked += 1;
    const asked = this.#asked;
    const page = await this.session.api.page("/templates", { search: this.search, latest: true, cursor: this.cursor });
    await this.session.learn(page.rows.map((row) => row.generator_id));
    if (asked === this.#asked) this.show(page);
    return page;
  }

  async searched() {
    this.search = this.box.value.trim();
    this.cursor = null;
    rename(address(["templates"], { search: this.search, stack: this.stack }));
    await this.load();
  }

  show({ rows, next }) {
    this.state.textContent = this.told(rows, next);
    const columns = [
      ["Name", (row) => [link(address(["templates", row.id], { stack: this.stack }), row.name), row.description && h("p", { class: "soft" }, row.description)]],
      ["Owner", (row) => this.session.owner(row.generator_id)],
      ["Version", (row) => String(row.version)],
      ["Changed", (row) => time(row.created_at), { small: false }],
    ];
    const query = { search: this.search, cursor: this.cursor, stack: this.stack };
    refill(this.place, rows.length > 0 && table("Templates", columns, rows), pager(["templates"], query, next));
  }

  told(rows, next) {
    if (rows.length === 0) return this.search ? `No template has “${this.search}” in its name.` : "No more templates.";
    if (next || this.cursor) return `${rows.length} templates on this page, in order of name.`;
    return rows.length === 1 ? "1 template" : `${rows.length} templates`;
  }

  element() {
    return [labelled("Search by name", this.box), this.state, this.place];
  }
}

/** The list, or how to make the first template. */
export async function templatesView(session, _, query) {
  const list = new TemplateList(session, query);
  const { rows } = await list.load();
  const empty = rows.length === 0 && !query.search && !query.cursor;
  if (empty) return { title: "Templates", wide: true, content: welcome(session) };
  const head = h("div", { class: "title" }, h("h1", {}, "Templates"), session.changes && link("/templates/new", h("span", { class: "primary" }, "New template")));
  return { title: "Templates", content: [head, list.element()] };
}

function welcome(session) {
  const head = [h("h1", {}, "No templates yet"), h("p", {}, "A template is a text with parameters, and a schema that says which parameters it takes.")];
  if (!session.changes) return [...head, h("p", {}, "This key can only read. A team’s key or an administrator’s makes templates.")];
  return [...head, h("h2", {}, "Make the first one here"), new EditForm(session).element(), createCommands()];
}
