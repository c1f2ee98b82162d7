// The view Violations.

import { more, most, shown } from "./crawlers.js";
import { h } from "./dom.js";
import { className, count, crawlerName, identityName, inPeriod, period, plural, when } from "./format.js";
import { grouped, groupings } from "./groups.js";
import { actionBadge, badge, client, counted, downloads, empty, exampleURL, filtered, hostOf, identityBadge, panel, rule, verdictBadge } from "./parts.js";
import { go, href } from "./state.js";
import { table } from "./table.js";

export const title = "Violations";

const order = "-last"; // that of the server

// needsAllRows reports whether the view is computed from all rows: grouped, searched or sorted.
const needsAllRows = (state) => state.group || state.q || (state.sort && state.sort !== order);

export const urls = (url, state) => ({ violations: url("violations.json", { host: state.host, limit: needsAllRows(state) ? most : shown(state) }) });

export function render(state, { violations: list }) {
  const found = state.q ? list.violations.filter((v) => matches(v, state.q)) : list.violations;
  const span = period(list);
  return [
    h("h1", {}, "Violations"),
    h("p", { class: "lead" }, "Crawlers requested these pages although robots.txt disallows them. Pages ", h("b", {}, "in grace"), " are no violations yet: a recent change disallows them, and the crawler may still use the earlier file. A row is shown if its last request is in the selected time. Its count includes earlier requests."),
    state.host ? h("p", { key: "host" }, "Only the host ", h("b", {}, state.host), ". ", h("a", { href: href(state, { host: "", rows: "" }) }, "Show all hosts")) : null,
    panel("rows", !list.total ? "Pages" : state.q ? `${count(found.length)} of ${plural(list.violations.length, "row", "rows")}, ${span}` : `${plural(list.total, "row", "rows")}, ${span}`, downloads(state, "violations", { host: state.host, limit: most }),
      list.violations.length ? [
        controls(state),
        !found.length ? h("p", { class: "quiet" }, "No row contains these words.") : groupings[state.group] ? grouped(state, found) : rows(state, found),
        state.group || state.q ? null : more(state, needsAllRows(state) ? list.violations.length : list.total),
        list.next && needsAllRows(state) ? h("p", { class: "quiet" }, `Only the latest ${count(most)} of ${count(list.total)} rows are included. Narrow the filters.`) : null,
      ] : nothing(state, list)),
  ];
}

function controls(state) {
  const choice = (name, text) => h("a", { key: text, href: href(state, { group: name, rows: "", sort: "" }), "aria-current": (state.group ?? "") === name ? "true" : undefined }, text);
  return h("div", { class: "controls" },
    h("div", { class: "windows", role: "group", "aria-label": "Group by" }, choice("", "each"), Object.entries(groupings).map(([name, text]) => choice(name, `by ${text}`))),
    h("label", { class: "filter search" }, h("span", {}, "Search"),
      h("input", { type: "search", name: "q", value: state.q ?? "", placeholder: "crawler, page, rule, host", autocomplete: "off", spellcheck: "false",
        input: (event) => go(state, { q: event.currentTarget.value.trim() }, true) })));
}

// matches reports whether a row contains all words.
function matches(v, q) {
  const text = [crawlerName(v.token, v.class), v.token, v.name, className(v.class), hostOf(v), v.path, `${hostOf(v)}${v.path}`, v.rule, v.group, identityName(v.identity)].join("\n").toLowerCase();
  return q.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

// outcome shows how many requests were blocked and how many passed.
function outcome(v) {
  const passed = v.count - v.blocked;
  if (!v.blocked) return actionBadge("passed");
  return h("span", { class: "badges" }, badge("action blocked", passed ? `blocked ${count(v.blocked)}` : "blocked"), passed ? badge("action passed", `passed ${count(passed)}`) : null);
}

const rows = (state, list) => table([
  { id: "crawler", title: "Crawler", className: "name", value: (v) => `${v.token} ${v.name ?? ""}`, cell: (v) => [client(state, v), h("div", { class: "quiet" }, className(v.class))] },
  { id: "identity", title: "Identity", className: "identities", value: (v) => v.identity, cell: (v) => identityBadge(v.identity) },
  { id: "path", title: "Page", className: "page wide", value: (v) => v.path, cell: (v) => [h("code", { class: "path" }, v.path), h("div", { class: "quiet" }, hostOf(v))] },
  { id: "rule", title: "Rule", className: "rule long", value: (v) => v.rule, cell: (v) => [rule(state, v), h("div", { class: "quiet" }, v.group ? `User-agent: ${v.group}` : "")] },
  { id: "verdict", title: "Verdict", className: "ruling long", value: (v) => v.verdict, cell: (v) => verdictBadge(v.verdict) },
  { id: "count", title: "Requests", className: "violations", number: true, value: (v) => v.count, cell: (v) => counted(v) },
  { id: "blocked", title: "Blocked or passed", className: "outcome", value: (v) => v.blocked / v.count, latest: true, cell: (v) => outcome(v) },
  { id: "first", title: "First", value: (v) => v.first, latest: true, cell: (v) => when(v.first) },
  { id: "last", title: "Last", className: "seen", value: (v) => v.last, latest: true, cell: (v) => when(v.last) },
], list, {
  caption: "Violations", class: "lines ruled", state, name: "sort", order, most: state.q ? undefined : shown(state),
  id: (v) => [v.site, v.host, v.token, v.class, v.name, v.identity, v.path, v.rule, v.line, v.version, v.verdict].join("\n"),
});

const nothing = (state, list) => filtered(state)
  ? empty("Nothing matches", `No violation in ${inPeriod(list)} matches these filters.`)
  : empty(`No violations in ${inPeriod(list)}`,
    "This table lists requests of crawlers that robots.txt disallows, with the rule and its line. To see one, request a path that your robots.txt disallows:",
    `curl -A "GPTBot/1.3" ${exampleURL(list)}/private/`);
