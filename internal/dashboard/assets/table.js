// Tables that can be sorted. On narrow screens each row becomes a card; the
// roles are spelt out since such a layout hides them.

import { h } from "./dom.js";
import { go } from "./state.js";

// table shows rows. A column is {id, title, cell, value, number, className}:
// cell returns what is shown of a row, value what it is sorted by (columns
// without are not sorted). options are caption, key (of a row), state, name
// (of the parameter that holds the order), order (the default), most (how many
// are shown of the sorted), and more, which returns a row's second row or nothing.
export function table(columns, rows, options) {
  const [by, descending] = parse(options.state?.[options.name] ?? options.order);
  const column = columns.find((c) => c.id === by && c.value);
  const sorted = column ? [...rows].sort((a, b) => (descending ? -1 : 1) * compare(column.value(a), column.value(b))) : rows;
  return h("table", { role: "table", class: `table ${options.class ?? ""}`, key: options.key ?? options.caption },
    h("caption", { class: options.showCaption ? "" : "unseen" }, options.caption),
    h("thead", { role: "rowgroup" },
      h("tr", { role: "row" }, columns.map((c) => heading(c, by, descending, options)))),
    h("tbody", { role: "rowgroup" }, sorted.slice(0, options.most).flatMap((row, i) => {
      const key = options.id ? options.id(row) : i;
      const more = options.more?.(row);
      return [
        h("tr", { role: "row", key: `row ${key}`, class: [options.rowClass?.(row), more && "opened"].filter(Boolean).join(" ") || undefined },
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
  // Numbers and times are read from the top, names from A.
  const next = active ? (descending ? c.id : `-${c.id}`) : c.number || c.latest ? `-${c.id}` : c.id;
  const space = c.title.lastIndexOf(" ") + 1; // the arrow stays with the last word
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
