// Violations taken together: by rule, by crawler, by page.

import { h } from "./dom.js";
import { className, count, plural, when } from "./format.js";
import { counted, crawlerLink, identityBadge, place, rule } from "./parts.js";
import { table } from "./table.js";

export const groupings = { rule: "rule", crawler: "crawler", page: "page" };

const keys = {
  rule: (v) => [v.site, v.group, v.rule], // wherever an edit has moved it; the list has the latest first
  crawler: (v) => [v.token, v.class],
  page: (v) => [v.site, v.host, v.path], // the same path of two hosts is two pages
};

// gather returns the groups of a list. A group has the row that it began with,
// its rows, and their sums.
function gather(list, by) {
  const groups = new Map();
  for (const v of list) {
    const key = keys[by](v).join("\n");
    const g = groups.get(key) ?? { key, row: v, rows: [], broken: zero(), grace: zero(), blocked: 0, first: v.first, last: v.last };
    groups.set(key, g);
    g.rows.push(v);
    const sum = v.verdict === "disallowed" ? g.broken : g.grace;
    sum.count += v.count;
    sum.error += v.error ?? 0;
    g.blocked += v.blocked;
    if (v.first < g.first) g.first = v.first;
    if (v.last > g.last) g.last = v.last;
  }
  return [...groups.values()];
}

const zero = () => ({ count: 0, error: 0 });

// parts returns what a group is made of, the most frequent first.
const parts = (g, by) => gather(g.rows, by).sort((a, b) => b.broken.count - a.broken.count || b.grace.count - a.grace.count);

const shown = 3; // parts that are named

function named(list, cell, one) {
  return h("ul", { class: "tops" }, list.slice(0, shown).map((g) => h("li", { key: g.key }, cell(g), " ", h("span", { class: "quiet" }, counted(g.broken.count ? g.broken : g.grace)))),
    list.length > shown ? h("li", { key: "more", class: "quiet" }, `and ${plural(list.length - shown, `more ${one}`, `more ${one}s`)}`) : null);
}

export function grouped(state, list) {
  const by = state.group;
  const crawler = (g) => crawlerLink(state, { ...g.row, id: g.row.token.startsWith("_") ? `${g.row.token}:${g.row.class}` : g.row.token });
  const page = (g) => [h("code", { class: "path" }, g.row.path), by === "rule" && !g.row.host ? null : [" ", h("span", { class: "quiet" }, place(g.row))]];
  const columns = {
    rule: { id: "rule", title: "Rule", className: "wide", value: (g) => g.row.rule, cell: (g) => [rule(state, g.row), h("div", { class: "quiet" }, g.row.group ? `User-agent: ${g.row.group}, ` : "", place(g.row))] },
    crawler: { id: "crawler", title: "Crawler", value: (g) => g.row.token, cell: (g) => [crawler(g), h("div", { class: "quiet" }, className(g.row.class))] },
    page: { id: "page", title: "Page", className: "wide", value: (g) => g.row.path, cell: (g) => [h("code", { class: "path" }, g.row.path), h("div", { class: "quiet" }, place(g.row))] },
  };
  const inside = {
    rule: { id: "rules", title: "Rules", className: "long", value: (g) => parts(g, "rule").length, latest: true, cell: (g) => named(parts(g, "rule"), (p) => rule(state, p.row), "rule") },
    crawler: { id: "crawlers", title: "Crawlers", className: "long", value: (g) => parts(g, "crawler").length, latest: true, cell: (g) => named(parts(g, "crawler"), crawler, "crawler") },
    page: { id: "pages", title: "Pages", className: "wide", value: (g) => parts(g, "page").length, latest: true, cell: (g) => named(parts(g, "page"), page, "page") },
  };
  const identities = (g) => [...new Set(g.rows.map((v) => v.identity))];
  return table([
    columns[by],
    by === "crawler" ? { id: "identity", title: "Identity", value: (g) => identities(g).join(), cell: (g) => h("span", { class: "badges" }, identities(g).map((i) => identityBadge(i))) } : null,
    ...Object.keys(groupings).filter((name) => name !== by).map((name) => inside[name]),
    { id: "count", title: "Against the rules", className: "broken", number: true, value: (g) => g.broken.count, cell: (g) => h("span", { class: g.broken.count ? "against" : "quiet" }, counted(g.broken)) },
    { id: "blocked", title: "Blocked", number: true, value: (g) => g.blocked, cell: (g) => count(g.blocked) },
    { id: "grace", title: "In grace", number: true, value: (g) => g.grace.count, cell: (g) => counted(g.grace) },
    { id: "first", title: "Since", value: (g) => g.first, latest: true, cell: (g) => when(g.first) },
    { id: "last", title: "Last", value: (g) => g.last, latest: true, cell: (g) => when(g.last) },
  ].filter(Boolean), gather(list, by), {
    caption: `Requests against the rules by ${groupings[by]}`, key: `by ${by}`, state, name: "sort", order: "-count", id: (g) => g.key,
  });
}
