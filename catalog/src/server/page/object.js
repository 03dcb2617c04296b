// One deployment object: its text, where it came from, and if it can be rendered again byte for byte.

import { code } from "./code.js";
import { shownUnified } from "./diff.js";
import { button, checkbox, facts, h, link, once, refill, time } from "./dom.js";
import { formatted } from "./json.js";
import { why } from "./why.js";

/** What the service writes in place of a secret. */
const HIDDEN = "***";

export async function objectView(session, { id }) {
  const { api } = session;
  const object = await api.get(`/deployment-objects/${id}`);
  const [stack, provenance] = await Promise.all([
    api.get(`/stacks/${object.stack_id}`).catch(() => null),
    api.get(`/deployment-objects/${id}/provenance`).catch((error) => {
      if (error.status === 404 || error.status === 403) return null;
      throw error;
    }),
  ]);
  const template = provenance && await api.get(`/templates/${provenance.template_id}`).catch(() => null);
  const title = `Object ${object.sequence_id}`;
  const home = stack ? [link("/stacks", "Stacks"), " / ", link(`/stacks/${stack.id}`, stack.name), " / "] : [];
  const asking = provenance && object.yaml_content ? why(session, object) : null;
  return {
    title,
    wide: true,
    content: [
      h("p", { class: "trail" }, home, title.toLowerCase()), h("h1", {}, title),
      facts({ Submitted: time(object.submitted_at), ID: h("code", {}, object.id), Checksum: h("code", {}, object.yaml_checksum), Kind: object.is_deletion_marker ? "deletion marker" : null }),
      h("div", { class: "two" },
        h("div", {},
          object.yaml_content ? text(session, object, asking) : h("p", {}, "The object has no text."),
          asking?.content),
        provenance ? record(session, object, provenance, template) : h("section", { class: "panel" }, h("h2", {}, "Provenance"), h("p", {}, "Submitted as YAML, not rendered from a template."))),
    ],
  };
}

/** The text of the object. Its secrets are fetched when they are asked for. */
function text(session, object, asking) {
  const place = h("div", {});
  const show = ({ yaml_content }) => refill(place, code(yaml_content, { name: "YAML", language: "yaml", file: `object-${object.sequence_id}.yaml`, ask: asking?.ask }));
  show(object);
  if (!object.yaml_content.includes(HIDDEN)) return place;
  const path = `/deployment-objects/${object.id}?secrets=shown`;
  const toggle = session.trying(async (event) => show(event.target.checked ? await session.api.get(path) : object));
  const [, choice] = checkbox("Show secrets", { onchange: toggle });
  return h("div", {}, choice, place);
}

/** The record of the render, and a button that repeats it. */
function record(session, object, provenance, template) {
  const [state, place] = [h("p", { role: "status" }), h("div", { id: "verification" })];
  const verify = button("Verify", once(session.trying(async () => {
    const { verified, problems, diff } = await session.api.post(`/deployment-objects/${object.id}/verify`);
    state.className = verified ? "good" : "bad";
    state.textContent = verified ? "✓ Verified: rendering it again gives the same bytes." : "✗ Not verified:";
    place.replaceChildren(...(verified ? [] : [h("ul", { class: "errors" }, problems.map((text) => h("li", { class: "error" }, text))), diff && shownUnified(diff, "Differences")].filter(Boolean)));
  })), { class: "primary", id: "verify" });
  const name = template ? link(`/templates/${template.id}`, `${template.name}, version ${provenance.template_version}`) : `deleted, version ${provenance.template_version}`;
  return h("section", { class: "panel" }, h("h2", {}, "Provenance"),
    facts({ Template: name, Rendered: time(provenance.created_at), Engine: provenance.engine, "Schema defaults": provenance.defaults ? "filled in" : "not filled in" }),
    h("p", {}, verify), state, place,
    code(provenance.template_parameters, { name: "Parameters", language: "json", file: `object-${object.sequence_id}.json`, shown: formatted(provenance.template_parameters) }),
    h("details", {}, h("summary", {}, "Checksums"), facts({
      Template: h("code", {}, provenance.template_checksum), Schema: h("code", {}, provenance.schema_checksum),
      Parameters: h("code", {}, provenance.parameters_checksum), Output: h("code", {}, provenance.output_checksum),
    })));
}
