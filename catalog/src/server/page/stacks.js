// The list of stacks, and a form that makes one.

import { h, labelled, link, once, time } from "./dom.js";
import { longChoice, pager, table } from "./list.js";
import { go } from "./router.js";

/** The owner of a new stack: the caller, or for administrators a choice. */
async function owner({ api, who }) {
  if (who.generator) return { value: () => who.generator, element: null };
  const page = (cursor) => api.page("/generators", { limit: 100, cursor });
  const { select, more } = await longChoice({ page, none: "choose a generator", more: "More generators" });
  return { value: () => select.value, element: h("div", {}, labelled("Owner", select), more), select };
}

async function newStack(session) {
  const name = h("input", { autocomplete: "off", spellcheck: "false" });
  const description = h("input", { autocomplete: "off" });
  const chosen = await owner(session);
  const wrong = h("p", { class: "error", role: "alert" });
  const refuse = (text, control) => {
    wrong.textContent = text;
    control.focus();
  };
  const create = async () => {
    wrong.textContent = "";
    if (!name.value.trim()) return refuse("Give the stack a name.", name);
    if (!chosen.value()) return refuse("Choose the generator that owns the stack.", chosen.select);
    const about = description.value.trim();
    try {
      const stack = await session.api.post("/stacks", { name: name.value.trim(), generator_id: chosen.value(), ...(about && { description: about }) });
      return await go(`/stacks/${stack.id}`, { say: `Created the stack ${stack.name}.` });
    } catch (error) {
      return refuse(error.message, name);
    }
  };
  return h("details", { class: "panel" }, h("summary", {}, "New stack"),
    h("form", { novalidate: true, onsubmit: once(session.trying(create)) }, labelled("Name", name), labelled("Description", description, "optional"),
      chosen.element, wrong, h("p", {}, h("button", { class: "primary" }, "Create stack"))));
}

export async function stacksView(session, _, { cursor }) {
  const { rows, next } = await session.api.page("/stacks", { cursor });
  await session.learn(rows.map((row) => row.generator_id));
  const columns = [
    ["Name", (row) => [link(`/stacks/${row.id}`, row.name), row.description && h("p", { class: "soft" }, row.description)]],
    ["Owner", (row) => session.owner(row.generator_id)],
    ["Created", (row) => time(row.created_at), { small: false }],
  ];
  const none = h("p", {}, "No stacks yet. A stack is a place that objects are deployed to: one application in one environment.");
  const form = session.changes && await newStack(session);
  if (form && rows.length === 0) form.open = true;
  return {
    title: "Stacks",
    content: [h("h1", {}, "Stacks"), form, rows.length > 0 ? table("Stacks", columns, rows) : none, pager(["stacks"], { cursor }, next)],
  };
}
