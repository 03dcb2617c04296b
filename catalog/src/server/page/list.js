// Lists, of which the service sends one page at a time.

import { button, freshId, h, link } from "./dom.js";
import { address } from "./router.js";

/** A table. A column is `[title, cell, { small }]`: `cell` makes the content, `small: false` hides it on small screens. */
export function table(name, columns, rows) {
  const kind = ({ small = true } = {}) => (small ? null : "large-only");
  // Small screens show rows as blocks, which would lose the roles of a table.
  const line = (cells) => h("tr", { role: "row" }, cells);
  const head = columns.map(([title, , options]) => h("th", { scope: "col", role: "columnheader", class: kind(options) }, title));
  const cell = (row) => ([title, content, options]) => h("td", { role: "cell", class: kind(options), "data-title": title }, content(row));
  return h("table", { role: "table", "aria-label": name }, h("thead", { role: "rowgroup" }, line(head)),
    h("tbody", { role: "rowgroup" }, rows.map((row) => line(columns.map(cell(row))))));
}

/** Links to the next page and to the first one. The previous page is a step back in the history. */
export function pager(path, query, next) {
  if (!next && !query.cursor) return null;
  const to = (cursor) => address(path, { ...query, cursor });
  return h("nav", { class: "pager", "aria-label": "Pages" },
    query.cursor && link(to(null), "First page"), next && link(to(next), "Next page"));
}

/** A choice from a list whose pages are added on demand. `known` is an entry to choose that may be on a later page. */
export async function longChoice({ page, known = null, none = null, id, onchange, more }) {
  const select = h("select", { id: id ?? freshId(), onchange }, none !== null && h("option", { value: "" }, none));
  const seen = new Set();
  const add = (row) => {
    if (!seen.has(row.id)) select.append(h("option", { value: row.id }, row.name));
    seen.add(row.id);
  };
  let next;
  const load = async () => {
    const { rows, next: after } = await page(next);
    rows.forEach(add);
    next = after;
    if (!next && document.activeElement === further) select.focus();
    further.hidden = !next;
  };
  const further = button(more, load, { class: "link" });
  if (known) add(known);
  await load();
  if (known) select.value = known.id;
  return { select, more: further };
}
