// The session and the list of templates. The key is stored in the tab and is lost when the tab closes.

import { Api, Failure } from "./api.js";
import { byId, debounced, h } from "./dom.js";
import { TemplateView } from "./template.js";

const KEY = "dropforge.key";

/** The open catalog, created at every sign-in. */
let catalog = null;

const tell = (text) => { byId("message").textContent = text; };

/** Shows an error. An unknown key ends the session. */
function failed(error) {
  if (error instanceof Failure && error.status === 401) leave();
  tell(error.message || String(error));
}

/** Wraps `act` so that its errors are shown. */
const trying = (act) => (...given) => Promise.resolve(act(...given)).catch(failed);

class Catalog {
  constructor(api, who) {
    Object.assign(this, { api, who, rows: [], owners: new Map(), chosen: null });
  }

  async load() {
    const generators = this.who.admin || this.who.readonly ? await this.api.generators() : [];
    this.owners = new Map(generators.map((generator) => [generator.id, generator.name]));
    this.rows = await this.api.templates();
  }

  owner(id) {
    if (id === null) return "system";
    return id === this.who.generator ? "own" : this.owners.get(id) ?? id;
  }

  /** Templates with their versions, newest first. */
  templates() {
    const groups = Map.groupBy(this.rows, (row) => `${row.generator_id ?? ""} ${row.name}`);
    const versions = [...groups.values()].map((rows) => rows.toSorted((a, b) => b.version - a.version));
    return versions.toSorted(([a], [b]) => a.name.localeCompare(b.name) || this.owner(a.generator_id).localeCompare(this.owner(b.generator_id)));
  }

  list() {
    const words = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const text = ([row]) => `${row.name} ${row.description ?? ""} ${this.owner(row.generator_id)}`.toLowerCase();
    const templates = this.templates();
    const found = templates.filter((versions) => words.every((word) => text(versions).includes(word)));
    byId("found").textContent = `${found.length} of ${templates.length} ${templates.length === 1 ? "template" : "templates"}`;
    byId("templates").replaceChildren(...found.map((versions) => this.entry(versions)));
  }

  entry(versions) {
    const [{ name, generator_id: owner, version }] = versions;
    const chosen = versions.some((row) => row.id === this.chosen);
    const about = `${this.owner(owner)} · version ${version}${versions.length > 1 ? `; ${versions.length} versions` : ""}`;
    const open = trying(() => this.open(versions, versions[0]));
    return h("li", {}, h("button", { type: "button", "aria-current": String(chosen), onclick: open }, name, h("br"), h("small", {}, about)));
  }

  async open(versions, version) {
    this.chosen = version.id;
    this.list();
    tell("");
    const view = new TemplateView(this, versions, version, trying);
    await view.load();
    if (catalog === this && this.chosen === version.id) view.show(byId("work"));
  }
}

async function enter(key) {
  tell("");
  const api = new Api(key);
  const who = await api.who();
  const entered = new Catalog(api, who);
  await entered.load();
  sessionStorage.setItem(KEY, key);
  catalog = entered;
  const role = who.admin ? "administrator" : who.generator ? "generator" : who.readonly ? "read-only" : "agent";
  byId("who").firstElementChild.textContent = `Signed in: ${role}`;
  shown(true);
  entered.list();
}

function leave() {
  sessionStorage.removeItem(KEY);
  catalog = null;
  byId("key").value = "";
  byId("templates").replaceChildren();
  byId("work").replaceChildren(h("p", {}, "Select a template."));
  tell("");
  shown(false);
  byId("key").focus();
}

function shown(inside) {
  byId("enter").hidden = inside;
  byId("who").hidden = !inside;
  byId("catalog").hidden = !inside;
}

byId("enter").addEventListener("submit", (event) => {
  event.preventDefault();
  trying(enter)(byId("key").value.trim());
});
byId("leave").addEventListener("click", leave);
byId("search").addEventListener("input", debounced(100, () => catalog?.list()));
const kept = sessionStorage.getItem(KEY);
if (kept) trying(enter)(kept);
