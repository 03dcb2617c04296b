// Two versions beside each other: template, schema, and the results of the same parameters.

import { shownDiff } from "./diff.js";
import { h, labelled, refill } from "./dom.js";
import { causes, listed } from "./errors.js";
import { formatted } from "./json.js";
import { rename } from "./router.js";

/** The text of a version, or a line about a packed chart. */
export function shownContent({ language, template_content: text, checksum }) {
  return language === "helm" ? `# Packed Helm chart, SHA-256 ${checksum}\n` : text;
}

export class Comparison {
  #asked = 0;

  constructor(view) {
    Object.assign(this, { view, version: view.version, bench: view.bench });
    this.others = view.versions.filter((row) => row.id !== view.version.id);
    this.state = h("p", { role: "status" });
    this.place = h("div", { id: "difference" });
  }

  /** The comparison with the version `query.with`, or with the previous one. */
  async element(query) {
    if (this.others.length === 0) return h("p", {}, "There are no other versions.");
    const previous = this.others.find((row) => row.version < this.version.version) ?? this.others[0];
    const chosen = this.others.find((row) => row.id === query.with) ?? previous;
    const option = (row) => h("option", { value: row.id, selected: row === chosen }, `version ${row.version}`);
    const choose = this.view.session.trying(async (event) => {
      rename(this.view.at(this.version.id, "compare", { with: event.target.value }));
      await this.compare(event.target.value);
    });
    await this.compare(chosen.id);
    return h("section", { class: "stacked" }, labelled("Compare with", h("select", { id: "other", onchange: choose }, this.others.map(option))), this.state, this.place);
  }

  async compare(id) {
    this.#asked += 1;
    const asked = this.#asked;
    const before = this.others.find((row) => row.id === id);
    const differences = await this.differences(before);
    if (asked !== this.#asked) return;
    this.state.textContent = `From version ${before.version} to version ${this.version.version}.`;
    refill(this.place, differences);
  }

  async differences(before) {
    const after = this.version;
    const part = (title, a, b) => [h("h2", {}, title), shownDiff(a, b, `${title}: diff`)];
    const parts = [
      ...part("Template", shownContent(before), shownContent(after)),
      ...part("Schema", formatted(before.parameters_schema), formatted(after.parameters_schema)),
      h("h2", {}, "Result with the parameters of the form"),
    ];
    const parameters = this.bench.form.text();
    if (parameters === null) return [...parts, h("p", { class: "error" }, "The parameters are not valid JSON.")];
    const stamp = (row) => this.bench.api.stamp(row.id, parameters, { stack: "", defaults: this.bench.defaults.checked });
    const answers = await Promise.all([before, after].map(stamp));
    if (answers.every((answer) => answer.status === 200)) {
      const hidden = answers.map((answer) => this.bench.masked(answer.yaml_content));
      return [...parts, shownDiff(...hidden, "Result: diff")];
    }
    const failure = (answer, row) => answer.status !== 200
      && h("div", {}, h("p", {}, `Version ${row.version} cannot be rendered:`), listed(causes(answer.errors)));
    return [...parts, failure(answers[0], before), failure(answers[1], after)].filter(Boolean);
  }
}
