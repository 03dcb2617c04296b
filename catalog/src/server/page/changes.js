// The changes that a version would make to the objects rendered from its template.

import { shownUnified } from "./diff.js";
import { button, count, h, link } from "./dom.js";
import { listed } from "./errors.js";

const PAGE = 100;

/** Renders the objects with this version, one page at a time. */
export function changes({ api, session, version }) {
  const [state, place] = [h("p", { role: "status" }), h("div", { id: "changes" })];
  const sum = { instances: 0, unchanged: 0 };
  let cursor = null;
  const look = button("Preview", session.trying(async () => {
    if (look.textContent === "Preview") {
      Object.assign(sum, { instances: 0, unchanged: 0 });
      cursor = null;
      place.replaceChildren();
    }
    const query = new URLSearchParams({ limit: PAGE, ...(cursor && { cursor }) });
    const page = await api.post(`/templates/${version.id}/changes?${query}`);
    sum.instances += page.instances;
    sum.unchanged += page.unchanged;
    cursor = page.next;
    place.append(...await shown(api, page.changes));
    look.textContent = cursor ? "Preview more" : "Preview";
    state.textContent = sum.instances === 0 ? "No object was rendered from this template."
      : `${count(sum.instances - sum.unchanged, "object")} would change, ${sum.unchanged} would not.${cursor ? " There are more." : ""}`;
  }), { class: "primary", id: "look" });
  return h("section", { class: "stacked" },
    h("p", {}, "Renders the newest object of every stack again with this version. Nothing is stored."), h("p", {}, look), state, place);
}

async function shown(api, found) {
  const ids = [...new Set(found.flatMap((change) => change.instances.map((one) => one.stack_id)))];
  const stacks = await Promise.all(ids.map((id) => api.get(`/stacks/${id}`).catch(() => ({ id, name: id }))));
  const names = new Map(stacks.map((stack) => [stack.id, stack.name]));
  const where = (one) => [link(`/objects/${one.deployment_object_id}`, names.get(one.stack_id)), ` (version ${one.template_version})`];
  return found.map(({ instances, diff, errors }) => {
    const title = count(instances.length, "object");
    const list = h("ul", { class: "chips" }, instances.map((one) => h("li", {}, where(one))));
    return h("section", {}, h("h2", {}, title), list, errors ? listed(errors) : shownUnified(diff ?? "", `Changes of ${title}`));
  });
}
