// Violations: what was asked for outside robots.txt.

import { showMore } from "./crawlers.js";
import { h } from "./dom.js";
import { className, count, plural, siteName, when, windows } from "./format.js";
import { base, counted, crawlerLink, downloads, empty, filtered, identityBadge, rule, section, verdictBadge } from "./parts.js";
import { table } from "./table.js";

export const title = "Violations";

export const urls = (url, state) => ({ violations: url("violations.json", { limit: Math.min(1000, Math.max(100, Number(state.rows) || 0)) }) });

export function render(state, { violations: list }) {
  return [
    h("h1", {}, "Requests outside robots.txt"),
    h("p", { class: "lead" }, "Paths that a crawler asked for although robots.txt forbids them, and those that it is let off for: ",
      h("b", {}, "stale"), " since it need not know the change yet, ", h("b", {}, "exempt"), " since the rule is not meant for it. A path is shown if its last request is in the chosen time, and counted from its first."),
    section(list.total ? `${plural(list.total, "path", "paths")}, ${windows[list.filter.window]}` : "Paths", downloads(state, "violations"),
      list.violations.length ? [rows(state, list), showMore(state, { ...list, crawlers: list.violations })] : nothing(state, list)),
  ];
}

const rows = (state, list) => table([
  { id: "crawler", title: "Crawler", value: (v) => v.token, cell: (v) => [crawlerLink(state, { ...v, id: v.token === "_other" ? `_other:${v.class}` : v.token }), h("div", { class: "quiet" }, className(v.class))] },
  { id: "identity", title: "Identity", value: (v) => v.identity, cell: (v) => identityBadge(v.identity) },
  { id: "path", title: "Path", className: "wide", value: (v) => v.path, cell: (v) => [h("code", { class: "path" }, v.path), h("div", { class: "quiet" }, siteName(v.site))] },
  { id: "rule", title: "Rule", className: "long", value: (v) => v.rule, cell: (v) => [rule(v.rule, v.line, v.version), h("div", { class: "quiet" }, v.group ? `User-agent: ${v.group}` : "")] },
  { id: "verdict", title: "Verdict", className: "long", value: (v) => v.verdict, cell: (v) => [verdictBadge(v.verdict), v.reason ? h("div", { class: "quiet reason" }, v.reason) : null] },
  { id: "count", title: "Requests", number: true, value: (v) => v.count, cell: (v) => counted(v) },
  { id: "first", title: "First", value: (v) => v.first, latest: true, cell: (v) => when(v.first) },
  { id: "last", title: "Last", value: (v) => v.last, latest: true, cell: (v) => when(v.last) },
], list.violations, {
  caption: "Requests outside robots.txt", state, name: "sort", order: "-last",
  id: (v) => [v.site, v.token, v.class, v.identity, v.path, v.rule, v.line, v.version, v.verdict].join("\n"),
});

const nothing = (state, list) => filtered(state)
  ? empty("Nothing matches", `No request outside robots.txt in the ${windows[list.filter.window]} matches these filters.`)
  : empty(`Nothing outside robots.txt in the ${windows[list.filter.window]}`,
    `Each path that a crawler asks for although robots.txt forbids it gets a row, with the line that forbids it. ${count(list.total)} is a good number. To see one, ask for something that your file forbids:`,
    `curl -A "GPTBot/1.3" ${base(list)}/private/`);
