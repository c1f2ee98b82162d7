// Sortable tables. On narrow screens each row becomes a card. That layout hides the roles of
// table elements from assistive technology, so they are explicit.

import { h } from "./dom.js";
import { go } from "./state.js";

// table returns a table of rows. A column is {id, title, cell, value, number, latest, className}.
// cell returns the content for a row. value returns the sort key; a column without value is not
// sortable. Columns with number or latest start with the highest value. options are caption, class,
// key, id (returns the key of a row), state, name (parameter with the order), order (the default),
// most (maximum number of rows after sorting) and more (returns a detail row or null).
export function table(columns, rows, options) {
  const [by, descending] = parse(options.state?.[options.name] ?? options.order);
  const column = columns.find((c) => c.id === by && c.value);
  const sorted = column ? [...rows].sort((a, b) => (descending ? -1 : 1) * compare(column.value(a), column.value(b))) : rows;
  return h("table", { role: "table", class: `table ${options.class ?? ""}`, key: options.key ?? options.caption },
    h("caption", { class: "unseen" }, options.caption),
    h("thead", { role: "rowgroup" },
      h("tr", { role: "row" }, columns.map((c) => heading(c, by, descending, options)))),
    h("tbody", { role: "rowgroup" }, sorted.slice(0, options.most).flatMap((row, i) => {
      const key = options.id ? options.id(row) : i;
      const more = options.more?.(row);
      return [
        h("tr", { role: "row", key: `row ${key}`, class: more ? "opened" : undefined },
          columns.map((c, i) => h(i === 0 ? "th" : "td", {
            role: i === 0 ? "rowheader" : "cell", scope: i === 0 ? "row" : undefined,
            class: [c.number && "number", c.className].filter(Boolean).join(" ") || undefined,
          }, c.title && i > 0 ? h("span", { class: "cellname", "aria-hidden": "true" }, c.title) : null,
          h("div", { class: "cell" }, c.cell(row))))),
        more ? h("tr", { role: "row", key: `more ${key}`, class: "more" },
          h("td", { role: "cell", colspan: columns.length }, more)) : null,
      ];
    })));
}

function heading(c, by, descending, options) {
  const props = { role: "columnheader", scope: "col", class: [c.number && "number", c.className, !c.value && "unsorted"].filter(Boolean).join(" ") || undefined };
  if (!c.value || !options.name) return h("th", props, c.title);
  const active = c.id === by;
  props["aria-sort"] = active ? (descending ? "descending" : "ascending") : undefined;
  // Numbers and times start with the highest, names with A.
  const next = active ? (descending ? c.id : `-${c.id}`) : c.number || c.latest ? `-${c.id}` : c.id;
  const space = c.title.lastIndexOf(" ") + 1; // keeps the arrow on the line of the last word
  return h("th", props, h("button", { class: "sort", type: "button", click: () => go(options.state, { [options.name]: next }, true) },
    c.title.slice(0, space), h("span", { class: "nowrap" }, c.title.slice(space),
      h("span", { class: "arrow", "aria-hidden": "true" }, active ? (descending ? "↓" : "↑") : ""))));
}

function parse(order) {
  return order?.startsWith("-") ? [order.slice(1), true] : [order, false];
}

function compare(a, b) {
  if (typeof a === "string" || typeof b === "string") return String(a ?? "").localeCompare(String(b ?? ""), "en", { numeric: true });
  return (a ?? -1) - (b ?? -1);
}
