// Generators and keys, for administrators. A new key is shown once.

import { copier } from "./code.js";
import { button, h, labelled, once, refill, time } from "./dom.js";
import { pager, table } from "./list.js";

const ROLES = [["readonly", "read-only: reads everything"], ["agent", "agent: fetches objects"], ["admin", "administrator: changes everything"]];

const DAY = 86_400_000;

/** Asks before something that cannot be undone. */
function confirmed(question, action) {
  return new Promise((answer) => {
    const dialog = h("dialog", { "aria-label": question, onclose: () => {
      dialog.remove();
      answer(dialog.returnValue === "yes");
    } }, h("form", { method: "dialog" }, h("p", {}, question),
      h("p", { class: "beside" }, h("button", { value: "no" }, "Cancel"), h("button", { value: "yes", class: "danger" }, action))));
    document.body.append(dialog);
    dialog.showModal();
  });
}

class Keys {
  constructor(session, cursor) {
    Object.assign(this, { session, api: session.api, cursor });
    this.secret = h("div", { role: "status" });
    this.generators = h("div", {});
    this.keys = h("div", {});
  }

  async load() {
    const [page, keys] = await Promise.all([this.api.page("/generators", { cursor: this.cursor }), this.api.get("/keys")]);
    await this.session.learn(keys.map((row) => row.generator_id));
    refill(this.generators, this.generatorTable(page.rows), pager(["keys"], { cursor: this.cursor }, page.next));
    refill(this.keys, this.keyTable(keys));
  }

  generatorTable(rows) {
    const rotate = (row) => (row.is_system ? "" : button("Replace key", once(this.session.trying(() => this.rotate(row))), { class: "small", "aria-label": `Replace the key of ${row.name}` }));
    return table("Generators", [
      ["Name", (row) => [row.name, row.description && h("p", { class: "soft" }, row.description)]],
      ["Last active", (row) => time(row.last_active_at), { small: false }],
      ["Action", rotate],
    ], rows);
  }

  keyTable(rows) {
    const named = (role) => ROLES.find(([name]) => name === role)?.[1].split(":")[0] ?? role;
    const owner = (row) => (row.generator_id ? this.session.owner(row.generator_id) : named(row.role));
    const state = (row) => (row.revoked_at ? ["revoked ", time(row.revoked_at)] : row.expires_at ? ["expires ", time(row.expires_at)] : "live");
    const revoke = (row) => (row.revoked_at ? "" : button("Revoke", once(this.session.trying(() => this.revoke(row, owner(row)))), { class: "small", "aria-label": `Revoke ${row.short_token}` }));
    const live = rows.toSorted((a, b) => Number(Boolean(a.revoked_at)) - Number(Boolean(b.revoked_at)));
    return table("Keys", [
      ["Key", (row) => [h("code", {}, row.short_token), row.name && h("p", { class: "soft" }, row.name)]],
      ["Holder", owner],
      ["State", state],
      ["Last use", (row) => time(row.last_used_at), { small: false }],
      ["Action", revoke],
    ], live);
  }

  /** Shows a new key, which cannot be shown again. */
  reveal(pak, whose) {
    const copy = copier(() => pak, "key");
    this.secret.replaceChildren(h("section", { class: "panel secret" }, h("h2", {}, `The key of ${whose}`),
      h("p", {}, "It is shown only now. Copy it to where it will be used."), h("div", { class: "bar" }, h("code", { id: "pak" }, pak), copy)));
    copy.focus();
  }

  async rotate({ id, name }) {
    if (!await confirmed(`Replace the key of ${name}? The present one stops working at once.`, "Replace")) return;
    const { pak } = await this.api.post(`/generators/${id}/rotate-pak`);
    await this.load();
    this.reveal(pak, name);
  }

  async revoke({ id, short_token: token }, holder) {
    if (!await confirmed(`Revoke the key ${token} (${holder})? It stops working at once.`, "Revoke")) return;
    await this.api.remove(`/keys/${id}`);
    await this.load();
    this.title.focus();
  }

  /** A form that creates something with a key. */
  form(title, fields, act) {
    const wrong = h("p", { class: "error", role: "alert" });
    const submit = async () => {
      wrong.textContent = "";
      try {
        const [pak, whose] = await act();
        await this.load();
        this.reveal(pak, whose);
      } catch (error) {
        if (error.status === 401) throw error;
        wrong.textContent = error.message;
      }
    };
    return h("details", { class: "panel" }, h("summary", {}, title),
      h("form", { novalidate: true, onsubmit: once(this.session.trying(submit)) }, fields, wrong, h("p", {}, h("button", { class: "primary" }, title))));
  }

  newGenerator() {
    const name = h("input", { autocomplete: "off", spellcheck: "false" });
    return this.form("New generator", [labelled("Name", name, "A team, a pipeline or a tool, with its own templates and stacks.")], async () => {
      if (!name.value.trim()) {
        name.focus();
        throw new Error("Give the generator a name.");
      }
      const { generator, pak } = await this.api.post("/generators", { name: name.value.trim() });
      name.value = "";
      return [pak, generator.name];
    });
  }

  newKey() {
    const role = h("select", {}, ROLES.map(([value, text]) => h("option", { value }, text)));
    const name = h("input", { autocomplete: "off", spellcheck: "false" });
    const end = h("input", { type: "date", min: new Date(Date.now() + DAY).toISOString().slice(0, 10) });
    const fields = [labelled("Role", role), labelled("Name", name, "optional · for this list and the audit trail"), labelled("Expires", end, "optional · refused from this day on")];
    return this.form("New key", fields, async () => {
      const given = { ...(name.value.trim() && { name: name.value.trim() }), ...(end.value && { expires_at: new Date(end.value).toISOString() }) };
      const { key, pak } = await this.api.post("/keys", { role: role.value, ...given });
      name.value = "";
      return [pak, key.name ?? key.short_token];
    });
  }

  element() {
    this.title = h("h2", { tabindex: "-1" }, "Keys");
    return [h("h1", {}, "Keys"), this.secret, h("h2", {}, "Generators"), this.newGenerator(), this.generators, this.title, this.newKey(), this.keys];
  }
}

export async function keysView(session, _, { cursor }) {
  session.requireAdmin();
  const keys = new Keys(session, cursor);
  await keys.load();
  return { title: "Keys", content: keys.element() };
}
