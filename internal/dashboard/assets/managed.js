// The robots.txt that robots_txt serves at a host: rules, lines, schedule and changes.

import { list } from "./detail.js";
import { h } from "./dom.js";
import { plural, serverNow, stamp, when } from "./format.js";
import { badge, panel } from "./parts.js";

// managed returns the panels, or null if the host has no robots_txt.
export function managed(m) {
  const d = m.detail;
  if (!d) return null;
  return [
    panel("managed", "Managed by robots_txt", h("p", { class: "quiet aside" }, h("code", {}, `caddy robots-guard managed show ${d.host}`)),
      problems(d), facts(d),
      d.rules.length ? rules(d) : null),
    d.turns.length ? panel("turns", "Scheduled changes", h("p", { class: "quiet aside" }, "for an unchanged base"), turns(d)) : null,
    d.changes.length ? panel("changes", "Changes", h("p", { class: "quiet aside" }, h("code", {}, "caddy robots-guard managed confirm|stop|rollback")), changes(d)) : null,
    d.text ? panel("made", "Lines by rule", null, source(d)) : null,
  ];
}

const time = (iso) => h("time", { datetime: iso }, stamp(iso));

// problems explains why the served file differs from the rules.
const problems = (d) => [
  d.refused ? h("p", { class: "notice", key: "refused" }, "The composed robots.txt is refused since ", time(d.refused.since), ": ", d.refused.why, ". ", d.version ? "The previous file is served." : "The site's own file is served.") : null,
  d.base.failure ? h("p", { class: "notice", key: "base" }, "Fetching the base fails since ", time(d.base.failing_since), ": ", d.base.failure, ". ", d.version ? "The last good copy is used." : "The site's own file is served.") : null,
  (d.lists ?? []).filter((l) => l.failure).map((l, i) => h("p", { class: "notice", key: `list ${i}` }, `A rule list is invalid: ${l.failure}. The last good version is used.`)),
];

// changeStates maps the states of current changes to a severity and a description.
const changeStates = {
  waiting: ["warning", "waits for confirmation"], shadow: ["info", "on trial, not served"], canary: ["info", "served at some hosts"],
  published: ["info", "in force"],
};

// changes lists the last changes with their differences.
const changes = (d) => h("ol", { class: "turns" }, d.changes.map((c, i) => h("li", { key: `${c.id} ${c.since} ${i}`, class: c.state === "published" ? "now" : null },
  h("b", {}, badge(`severity ${changeStates[c.state]?.[0] ?? ""}`, changeStates[c.state]?.[1] ?? c.state.replaceAll("_", " "))), " ", h("code", {}, c.id), " ",
  h("span", { class: "quiet" }, "since ", time(c.since), c.until ? [", until ", time(c.until)] : null),
  h("p", { class: "quiet" }, [`from ${origins[c.origin] ?? c.origin}`, c.who === c.origin ? null : `by ${c.who}`, c.why, c.ticket, ...(c.decided ?? [])].filter(Boolean).join(", ")),
  c.read_by ? h("p", { class: "quiet" }, `fetched by ${c.read_by.join(", ")}`) : null,
  (c.reasons ?? []).map((reason, i) => h("p", { key: `reason ${i}` }, reason)),
  c.difference ? h("details", { key: "difference" }, h("summary", {}, "Difference"), h("ul", { class: "turned" }, c.difference.map((line, i) => h("li", { key: i }, line)))) : null)));

const origins = { configuration: "the configuration", rules: "a rule list", rollback: "a rollback" };

const bases = { upstream: "the site's own file", file: "a file", none: "nothing" };

function facts(d) {
  const fact = (name, value) => (value ? h("div", { key: name }, h("dt", {}, name), h("dd", {}, value)) : null);
  return h("dl", { class: "facts" },
    fact("In force", d.staging ? badge("severity warning", "staging: everything is disallowed") : d.version ? h("code", {}, d.version) : "the site's own file, or no request yet"),
    fact("Since", d.since ? when(d.since) : null),
    fact("Rules", plural(d.rules_in_force, "in force", "in force")),
    fact("Base", [bases[d.base.kind] ?? d.base.kind, d.base.file ? [" ", h("code", {}, d.base.file)] : null, d.base.read ? [", fetched ", when(d.base.read)] : null]),
    fact("Rule lists", d.lists ? d.lists.map((l, i) => [i ? ", " : null, h("code", {}, l.name), ` (${plural(l.rules, "rule", "rules")})`]) : null),
    fact("Next change", d.next ? when(d.next) : "none"),
    fact("Trial", d.trial ? [h("code", {}, d.trial.change), ", served at this host", d.trial.until ? [", until ", when(d.trial.until)] : null] : null));
}

const states = { in_force: ["info", "in force"], to_come: ["warning", "scheduled"], over: ["", "ended"] };

const rules = (d) => h("div", { class: "part" }, list("The rules of robots_txt with their reasons", ["Rule", "Line", "Crawlers", "Time", "Reason"], d.rules.map((r) => [
  [r.name, r.at ? h("div", { class: "quiet" }, r.at) : null],
  h("code", { class: "path" }, r.says),
  [r.for.join(", ") || "all crawlers", r.hosts ? h("div", { class: "quiet" }, r.hosts.join(", ")) : null],
  [badge(`severity ${states[r.state][0]}`, states[r.state][1]), r.from ? h("div", { class: "quiet" }, "from ", time(r.from)) : null, r.until ? h("div", { class: "quiet" }, "until ", time(r.until)) : null],
  [r.reason ?? "", [r.owner, r.ticket].filter(Boolean).length ? h("div", { class: "quiet" }, [r.owner, r.ticket].filter(Boolean).join(", ")) : null]])));

const turns = (d) => h("ol", { class: "turns" },
  h("li", { key: "now", class: "now" }, h("b", {}, "Now"), h("span", { class: "quiet" }, ` ${stamp(new Date(serverNow()).toISOString())}`)),
  d.turns.map((t) => h("li", { key: t.at }, h("b", {}, when(t.at)), " ", h("span", { class: "quiet" }, stamp(t.at)),
    h("p", {}, [...t.begins.map((rule) => `${rule} begins`), ...t.ends.map((rule) => `${rule} ends`)].join(", ")),
    t.added.length + t.removed.length ? h("ul", { class: "turned" },
      t.removed.map((line) => h("li", { class: "removed" }, h("span", { class: "unseen" }, "removed "), h("span", { "aria-hidden": "true" }, "− "), h("code", {}, line))),
      t.added.map((line) => h("li", { class: "added" }, h("span", { class: "unseen" }, "added "), h("span", { "aria-hidden": "true" }, "+ "), h("code", {}, line)))) : null)));

function source(d) {
  const texts = d.text.split(/\r\n|\n|\r/);
  if (texts[texts.length - 1] === "") texts.pop();
  const rulesOf = new Map(d.lines.map((l) => [l.line, l.rules.join(", ")]));
  return h("table", { class: "source" },
    h("caption", { class: "unseen" }, "The served robots.txt with the rules of each line"),
    h("thead", {}, h("tr", {}, h("th", { scope: "col", class: "number" }, h("span", { class: "unseen" }, "Line")), h("th", { scope: "col" }, "Text"), h("th", { scope: "col" }, "Rule"))),
    h("tbody", {}, texts.map((text, i) => h("tr", { key: i, class: "line" }, h("td", { class: "number lineno" }, i + 1), h("td", { class: "text" }, h("code", {}, text || " ")), h("td", {}, rulesOf.get(i + 1) ?? "")))));
}
