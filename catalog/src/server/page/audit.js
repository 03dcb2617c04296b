// The audit trail, newest first, for administrators.

import { h, link, time } from "./dom.js";
import { pager, table } from "./list.js";

const PLACES = { template: "templates", stack: "stacks", object: "objects" };
const VERBS = { create: "created", update: "changed", delete: "deleted", add: "added", remove: "removed", revoke: "revoked", rotate: "replaced" };

/** An action such as `stack.label.add` in words. */
function words(action) {
  const parts = action.split(".");
  const verb = parts.pop();
  return `${parts.join(" ")} ${VERBS[verb] ?? verb}`;
}

/** The changed object, with a link unless it is gone. */
function changed({ action, object_kind: kind, object_id: id, object_name: name, detail }) {
  const place = PLACES[kind];
  const text = name ?? id;
  const gone = action === `${kind}.delete`;
  return [place && !gone ? link(`/${place}/${id}`, text) : text, detail && h("p", { class: "soft" }, detail)];
}

export async function auditView(session, _, { cursor }) {
  session.requireAdmin();
  const { rows, next } = await session.api.page("/audit", { cursor });
  await session.learn(rows.map((row) => row.generator_id));
  const who = (row) => row.key_name ?? (row.generator_id ? session.owner(row.generator_id) : row.role) ?? "local command";
  const columns = [
    ["When", (row) => time(row.at)],
    ["Change", (row) => words(row.action)],
    ["Of", changed],
    ["By", who],
    ["From", (row) => [row.address ?? "", row.request_id && h("p", { class: "soft" }, row.request_id)], { small: false }],
  ];
  const list = rows.length > 0 ? table("Changes, newest first", columns, rows) : h("p", {}, "No changes were recorded yet.");
  return { title: "Audit", content: [h("h1", {}, "Audit"), h("p", { class: "soft" }, "Who changed what, when, and from where. Newest first."), list, pager(["audit"], { cursor }, next)] };
}
