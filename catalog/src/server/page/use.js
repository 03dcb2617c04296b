// A form for the parameters of a version beside the result, which follows the form and stays in view.

import { code } from "./code.js";
import { button, checkbox, count, debounced, freshId, h, labelled, link, once, refill } from "./dom.js";
import { causes, listed, warned, withOthers } from "./errors.js";
import { Form } from "./form.js";
import { parse } from "./json.js";
import { longChoice } from "./list.js";
import { tabs } from "./tabs.js";

const TYPING = 250;
const SECRET = "••••••••";

function schemaOf(version) {
  try {
    return parse(version.parameters_schema);
  } catch {
    return {};
  }
}

export class Workbench {
  #running = new AbortController();

  /** `marked` receives the errors of each render. */
  constructor(session, version, { stack, marked }) {
    Object.assign(this, { session, api: session.api, version, marked, stack });
    const later = debounced(TYPING, () => this.live());
    this.form = new Form(schemaOf(version), () => {
      this.stored.replaceChildren();
      later();
    });
    this.form.left = () => this.live();
    this.state = h("p", { id: "state", role: "status" });
    this.result = h("div", { id: "result" });
    this.stored = h("div", { id: "stored", role: "status" });
  }

  /** Creates the elements. */
  async element() {
    const [defaults, choice] = checkbox("Fill in schema defaults", { checked: true, onchange: () => this.changed() });
    this.defaults = defaults;
    const left = h("div", { class: "panel" }, h("h2", {}, "Parameters"), choice, this.form.element);
    const right = h("div", { class: "panel sticky" }, h("h2", {}, "Result"), await this.target(), this.state, this.result, this.actions(), this.stored);
    const split = tabs([["Parameters", left], ["Result", right]]);
    this.tabs = split;
    this.live();
    return split.element;
  }

  async target() {
    const page = (cursor) => this.api.page("/stacks", { limit: 100, cursor });
    const known = this.stack ? await this.api.get(`/stacks/${this.stack}`).catch(() => null) : null;
    this.choice = await longChoice({ page, known, none: "no stack: preview only", id: "stack", onchange: () => this.changed(), more: "More stacks" });
    this.noStack = h("p", { class: "error", id: freshId() });
    this.choice.select.setAttribute("aria-describedby", this.noStack.id);
    return h("div", {}, labelled("Stack", this.choice.select), this.choice.more, this.noStack);
  }

  actions() {
    if (!this.session.changes) return h("p", { class: "hint" }, "This key can only read, so nothing can be deployed with it.");
    return h("p", {}, button("Instantiate", once(this.session.trying(() => this.instantiate())), { class: "primary", id: "instantiate" }));
  }

  options() {
    return { stack: this.choice.select.value, defaults: this.defaults.checked };
  }

  /** Renders again after a choice and clears the message about a stored object. */
  changed() {
    this.stored.replaceChildren();
    this.noStack.textContent = "";
    this.live();
  }

  /** Renders the parameters of the form. A render that is no longer wanted is cancelled. */
  async live() {
    this.#running.abort();
    this.#running = new AbortController();
    const { signal } = this.#running;
    const parameters = this.form.text();
    if (parameters === null) return this.tell("The parameters are not valid JSON.", []);
    let answer;
    try {
      answer = await this.api.stamp(this.version.id, parameters, this.options(), signal);
    } catch (error) {
      answer = { errors: [error] };
      if (error.retry) setTimeout(() => signal.aborted || this.live(), error.retry * 1000);
    }
    if (!signal.aborted) this.answered(answer);
    return undefined;
  }

  answered({ yaml_content: text, errors = [], warnings = [] }) {
    this.marked(causes(errors));
    const open = this.form.fail(errors.flatMap((error) => error.details?.violations ?? []));
    const others = causes(errors).filter((error) => !error.details?.violations);
    if (text !== undefined) return this.tell("Preview. Nothing is stored.", [warnings.length > 0 && warned(warnings), this.rendered(text)]);
    const shown = open.length === 0 && others.length === 0;
    return this.tell(shown ? "See the errors in the parameters." : "No result yet.", [open.length > 0 && this.needed(open), others.length > 0 && listed(others)]);
  }

  tell(state, content) {
    const scrolled = this.result.querySelector(".text")?.scrollTop ?? 0;
    this.state.textContent = state;
    refill(this.result, content);
    const text = this.result.querySelector(".text");
    if (text) text.scrollTop = scrolled;
    this.tabs.note(1, text ? "" : " (none yet)");
  }

  /** Violations at fields that were not touched yet: a list of what is left to do. */
  needed(open) {
    const go = (field) => () => {
      this.tabs.open(0);
      field.focus();
    };
    const item = ({ text, field }) => h("li", {}, field ? button(text, go(field), { class: "link" }) : text);
    return h("div", {}, h("p", {}, "Still to do:"), h("ul", { class: "needed" }, open.map(item)));
  }

  /** A rendered text with the form's secrets hidden. */
  masked(text) {
    return this.form.secrets().reduce((shown, secret) => shown.replaceAll(secret, SECRET), text);
  }

  /** The result, with secrets hidden unless they are asked for. */
  rendered(text) {
    const hidden = this.masked(text);
    const file = `${this.version.name}.yaml`;
    const place = h("div", {});
    const show = (open) => refill(place, code(text, { name: "Rendered text", language: "yaml", file, shown: open ? text : hidden }));
    show(this.open ?? false);
    if (hidden === text) return place;
    const [, choice] = checkbox("Show secrets", { checked: this.open ?? false, onchange: (event) => show(this.open = event.target.checked) });
    return h("div", {}, choice, place);
  }

  /** Shows all violations and goes to the first. Returns true if there is one. */
  insisted() {
    const found = this.form.insist();
    if (found) {
      this.tabs.open(0);
      this.form.insist();
    }
    return found;
  }

  async instantiate() {
    // The last render may be older than the last change.
    await this.live();
    if (this.insisted()) return;
    if (this.options().stack === "") {
      this.noStack.textContent = "Choose the stack that gets the object.";
      this.choice.select.focus();
      return;
    }
    try {
      const object = await this.api.instantiate(this.version.id, this.form.text(), this.options());
      const name = this.choice.select.selectedOptions[0].textContent;
      this.stored.replaceChildren(h("p", { class: "good" }, "Created ", link(`/objects/${object.id}`, `object ${object.sequence_id}`), ` in ${name}.`));
    } catch (error) {
      const errors = causes(withOthers(error));
      this.form.fail(errors.flatMap((one) => one.details?.violations ?? []));
      this.marked(errors);
      this.insisted();
      this.stored.replaceChildren(h("p", {}, `${count(errors.length, "error")}, nothing was stored:`), listed(errors));
    }
  }
}
