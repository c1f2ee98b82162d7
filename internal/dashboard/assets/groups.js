// Violations grouped by rule, crawler or page.

import { h } from "./dom.js";
import { className, count, plural, when } from "./format.js";
import { counted, crawlerLink, hostOf, identityBadge, rowID, rule } from "./parts.js";
import { table } from "./table.js";

export const groupings = { rule: "rule", crawler: "crawler", page: "page" };

const keys = {
  rule: (v) => [v.site, v.group, v.rule], // without the line, which an edit can change
  crawler: (v) => [v.token, v.class],
  page: (v) => [v.site, v.host, v.path], // the same path at two hosts is two pages
};

// gather groups rows. A group has its first row, all rows and their sums.
function gather(list, by) {
  const groups = new Map();
  for (const v of list) {
    const key = keys[by](v).join("\n");
    const g = groups.get(key) ?? { key, row: v, rows: [], violations: zero(), grace: zero(), blocked: 0, first: v.first, last: v.last };
    groups.set(key, g);
    g.rows.push(v);
    const sum = v.verdict === "disallowed" ? g.violations : g.grace;
    sum.count += v.count;
    sum.error += v.error ?? 0;
    g.blocked += v.blocked;
    if (v.first < g.first) g.first = v.first;
    if (v.last > g.last) g.last = v.last;
  }
  return [...groups.values()];
}

const zero = () => ({ count: 0, error: 0 });

// subgroups groups the rows of a group, most frequent first.
const subgroups = (g, by) => gather(g.rows, by).sort((a, b) => b.violations.count - a.violations.count || b.grace.count - a.grace.count);

const maxNamed = 3;

// topSubgroups lists the most frequent subgroups.
function topSubgroups(list, cell, one) {
  return h("ul", { class: "tops" }, list.slice(0, maxNamed).map((g) => h("li", { key: g.key }, cell(g), " ", h("span", { class: "quiet" }, counted(g.violations.count ? g.violations : g.grace)))),
    list.length > maxNamed ? h("li", { key: "more", class: "quiet" }, `and ${plural(list.length - maxNamed, `more ${one}`, `more ${one}s`)}`) : null);
}

// grouped shows a table of groups.
export function grouped(state, list) {
  const by = state.group;
  const crawler = (g) => crawlerLink(state, { ...g.row, id: rowID(g.row.token, g.row.class) });
  const page = (g) => [h("code", { class: "path" }, g.row.path), by === "rule" && !g.row.host ? null : [" ", h("span", { class: "quiet" }, hostOf(g.row))]];
  const columns = {
    rule: { id: "rule", title: "Rule", className: "wide", value: (g) => g.row.rule, cell: (g) => [rule(state, g.row), h("div", { class: "quiet" }, g.row.group ? `User-agent: ${g.row.group}, ` : "", hostOf(g.row))] },
    crawler: { id: "crawler", title: "Crawler", value: (g) => g.row.token, cell: (g) => [crawler(g), h("div", { class: "quiet" }, className(g.row.class))] },
    page: { id: "page", title: "Page", className: "wide", value: (g) => g.row.path, cell: (g) => [h("code", { class: "path" }, g.row.path), h("div", { class: "quiet" }, hostOf(g.row))] },
  };
  const inside = {
    rule: { id: "rules", title: "Rules", className: "long", value: (g) => subgroups(g, "rule").length, latest: true, cell: (g) => topSubgroups(subgroups(g, "rule"), (p) => rule(state, p.row), "rule") },
    crawler: { id: "crawlers", title: "Crawlers", className: "long", value: (g) => subgroups(g, "crawler").length, latest: true, cell: (g) => topSubgroups(subgroups(g, "crawler"), crawler, "crawler") },
    page: { id: "pages", title: "Pages", className: "wide", value: (g) => subgroups(g, "page").length, latest: true, cell: (g) => topSubgroups(subgroups(g, "page"), page, "page") },
  };
  const identities = (g) => [...new Set(g.rows.map((v) => v.identity))];
  return table([
    columns[by],
    by === "crawler" ? { id: "identity", title: "Identity", value: (g) => identities(g).join(), cell: (g) => h("span", { class: "badges" }, identities(g).map((i) => identityBadge(i))) } : null,
    ...Object.keys(groupings).filter((name) => name !== by).map((name) => inside[name]),
    { id: "count", title: "Violations", className: "violations", number: true, value: (g) => g.violations.count, cell: (g) => h("span", { class: g.violations.count ? "against" : "quiet" }, counted(g.violations)) },
    { id: "blocked", title: "Blocked", number: true, value: (g) => g.blocked, cell: (g) => count(g.blocked) },
    { id: "grace", title: "In grace", number: true, value: (g) => g.grace.count, cell: (g) => counted(g.grace) },
    { id: "first", title: "Since", value: (g) => g.first, latest: true, cell: (g) => when(g.first) },
    { id: "last", title: "Last", value: (g) => g.last, latest: true, cell: (g) => when(g.last) },
  ].filter(Boolean), gather(list, by), {
    caption: `Violations by ${groupings[by]}`, key: `by ${by}`, state, name: "sort", order: "-count", id: (g) => g.key,
  });
}
