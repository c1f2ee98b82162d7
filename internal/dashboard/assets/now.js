// Now: how it stands.

import { advice } from "./actions.js";
import { chart, order, sparkline, swatch } from "./chart.js";
import { h } from "./dom.js";
import { count, inPeriod, percent, period, plural, share, siteName, verdictName, verdicts, when } from "./format.js";
import { about, actionBadge, against, badge, base, calledNames, changed, counted, crawlerLink, downloads, empty, filtered, findings, health, identitySplit, impostors, modeBadge, place, section, topPage, trend, was } from "./parts.js";
import { answered } from "./parity.js";
import { href } from "./state.js";
import { table } from "./table.js";
import { alertsURL, todo, told } from "./todo.js";

export const title = "Now";

export const urls = (url) => ({ summary: url("summary.json"), parity: url("parity.json"), alerts: alertsURL });

export function render(state, { summary, parity, alerts }, redraw) {
  const none = summary.requests === 0;
  return [
    h("h1", {}, "Now"),
    todo(state, alerts, summary.search_blocked, redraw),
    none ? null : glance(state, summary),
    tiles(summary),
    summary.on_disallowed ? h("p", { class: "quiet", key: "people" }, `${plural(summary.on_disallowed, "request", "requests")} for disallowed URLs came from people, and from bots that pass as people, in ${inPeriod(summary)}.`) : null,
    none ? nothing(state, summary) : section(`Requests by verdict, ${period(summary)}`, downloads(state, "summary"),
      h("div", { class: "chartrow" }, chart("now", summary, summary.series, summary.marks, redraw, (m) => changed(state, m)), breakdown(summary))),
    forgotten(summary),
    section("Sites", null, summary.sites_now.length ? sites(state, summary.sites_now, alerts)
      : empty("No site yet", "A site appears here once its Caddyfile has a robots_guard directive and a crawler has asked for something.")),
    summary.sites_now.filter((s) => s.site === state.site && s.hosts?.length).map((s) => section(`Hosts of ${siteName(s.site)}`, null, tenants(state, s))),
    none ? null : section("Who breaks the rules most", h("a", { href: href(state, { view: "crawlers" }) }, `All ${count(summary.crawlers)}`), top(state, summary)),
    answered(state, parity),
  ];
}

// glance answers what an owner asks first, about who breaks the rules most.
function glance(state, s) {
  const c = s.top.find((c) => c.disallowed);
  const answer = (question, ...text) => h("div", { key: question }, h("dt", {}, question), h("dd", {}, text));
  if (!c) return h("section", { class: "panel good glance", key: "glance" }, h("h2", {}, `Nobody broke the rules in ${inPeriod(s)}`));
  const page = c.top_path;
  return h("section", { class: "panel glance", key: "glance" }, h("h2", { class: "unseen" }, "At a glance"), h("dl", {},
    answer("Who breaks the rules most?", crawlerLink(state, c), h("span", { class: "quiet" }, ` ${count(c.disallowed)} of ${plural(s.disallowed, "request", "requests")} against them`)),
    answer("Which page?", page?.path ? [h("code", { class: "path", title: page.path }, page.path), h("span", { class: "quiet" }, ` ${place(page)}`)] : "none is kept"),
    answer("Since when?", when(c.violating_since ?? c.first_seen)),
    answer("Is it really them?", identitySplit(c.identities), h("span", { class: "quiet" }, ` ${c.operator ?? ""}`)),
    answer("What should I do?", advice(state, { crawler: c }), " ", h("a", { href: href(state, { view: "crawlers", open: c.id }) }, "Lines to copy"))));
}

function tiles(s) {
  const judged = s.allowed + s.stale + s.disallowed;
  const before = s.previous;
  return h("dl", { class: "tiles" },
    tile("Requests of crawlers", count(s.requests), plural(s.crawlers, "crawler", "crawlers"), "", was(s.requests, before?.requests)),
    tile("Against the rules", count(s.disallowed), outcomes(s), s.disallowed ? "against" : "", was(s.disallowed, before?.disallowed)),
    tile("In grace", count(s.stale), "forbidden only by a recent change, let off", "", was(s.stale, before?.stale)),
    tile("Kept the rules", percent(s.compliance), judged ? `of ${count(judged)} judged by a rule or group` : "nothing was judged yet", "", was(0, kept(before), percent)));
}

// outcomes says what became of the requests against the rules. The numbers add up.
function outcomes(s) {
  const { violations_blocked: blocked, violations_only_logged: spared } = s;
  return [`${count(blocked)} blocked`, ` · ${count(s.disallowed - blocked - spared)} would be blocked`, spared ? ` · ${count(spared)} only logged` : null,
    s.blocked > blocked ? `; ${count(s.blocked - blocked)} more blocked for another reason` : null];
}

// kept is the share of requests that kept the rules, in percent.
function kept(c) {
  const within = c ? c.allowed + c.stale : 0;
  return c && within + c.disallowed ? (100 * within) / (within + c.disallowed) : undefined;
}

const tile = (name, number, note, kind = "", change = null) => h("div", { class: `tile ${kind}`, key: name }, h("dt", {}, name), h("dd", { class: "big" }, number), h("dd", { class: "note" }, note), change ? h("dd", { class: "change" }, change) : null);

const nothing = (state, s) => section("Requests by verdict", null, filtered(state)
  ? empty("Nothing matches", `No request in ${inPeriod(s)} matches these filters.`)
  : empty(`No crawler in ${inPeriod(s)}`,
    "As soon as a crawler asks for a page, its requests are drawn here by what robots.txt says about them. Be one yourself:",
    `curl -A "GPTBot/1.3" ${base(s)}/`));

const breakdown = (s) => h("table", { class: "plain breakdown" }, h("caption", { class: "unseen" }, "Requests by verdict"),
  h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "verdict"), h("th", { scope: "col", class: "number" }, "requests"), h("th", { scope: "col", class: "number" }, "share"))),
  h("tbody", {}, [...order].reverse().map((verdict) => h("tr", { key: verdict },
    h("th", { scope: "row", title: verdicts[verdict] }, swatch(verdict), verdictName(verdict)),
    h("td", { class: "number" }, count(s[verdict])), h("td", { class: "number quiet" }, share(s[verdict], s.requests))))),
  h("tfoot", {}, h("tr", {}, h("th", { scope: "row" }, "total"), h("td", { class: "number" }, count(s.requests)), h("td", { class: "number quiet" }, s.requests ? "100 %" : "–"))));

// hosts are those that a site of several was asked under.
const hosts = (state, s) => (s.hosts?.length ? h("div", { class: "quiet" }, s.hosts.slice(0, 3).map((n, i) => [i ? ", " : "", `${n.host} `, counted(n)]),
  s.hosts.length > 3 && state.site !== s.site ? [" ", h("a", { href: href(state, { site: s.site }) }, `all ${count(s.hosts.length)}`)] : null) : null);

// tenants are the hosts of a site that stands for several, each with what it was asked for.
const tenants = (state, s) => table([
  { id: "host", title: "Host", className: "wide", value: (n) => n.host, cell: (n) => h("a", { href: href(state, { view: "violations", site: s.site, host: n.host }) }, n.host) },
  { id: "requests", title: "Requests", number: true, value: (n) => n.count, cell: (n) => counted(n) },
  { id: "against", title: "Against the rules", className: "broken", number: true, value: (n) => n.disallowed, cell: (n) => against(n.disallowed) },
  { id: "blocked", title: "Blocked", number: true, value: (n) => n.blocked, cell: (n) => count(n.blocked) },
  { id: "first", title: "First seen", value: (n) => n.first, latest: true, cell: (n) => when(n.first) },
  { id: "last", title: "Last seen", value: (n) => n.last, latest: true, cell: (n) => when(n.last) },
], s.hosts, { caption: `Hosts of ${siteName(s.site)}`, key: `hosts ${s.site}`, state, name: "hosts", order: "-against", id: (n) => n.host });

// forgotten tells that a restart would forget all this, and why.
const forgotten = (s) => (s.history?.why ? h("p", { class: "notice", key: "forgotten" }, "History is lost at a restart: ", s.history.why, ".") : null);

// Kinds of alerts that say how it is about a robots.txt.
const aboutRobots = ["not_protecting", "robots_gone", "unreachable"];

function sites(state, list, alerts) {
  return table([
    { id: "site", title: "Site", value: (s) => s.site, cell: (s) => [h("a", { href: href(state, { view: "robots", site: s.site }) }, siteName(s.site)), hosts(state, s)] },
    { id: "mode", title: "Mode", value: (s) => s.mode ?? "", cell: (s) => modeBadge(s.mode) },
    { id: "robots", title: "robots.txt", className: "wide", value: (s) => s.robots.state, cell: (s) => [health(s.site, s.robots, told(alerts, aboutRobots, s.site)), s.robots.held_until ? [" ", badge("severity warning", ["version before held, until ", when(s.robots.held_until)])] : null] },
    { id: "findings", title: "Findings", value: (s) => s.robots.findings.errors * 1e6 + s.robots.findings.warnings * 1e3 + s.robots.findings.infos, number: false, latest: true, cell: (s) => findings(s.robots.findings) },
    { id: "requests", title: "Requests", number: true, value: (s) => s.requests, cell: (s) => [count(s.requests), h("div", { class: "quiet" }, trend(s.requests, s.previous?.requests))] },
    { id: "against", title: "Against the rules", className: "broken", number: true, value: (s) => s.disallowed, cell: (s) => [against(s.disallowed), h("div", { class: "quiet" }, trend(s.disallowed, s.previous?.disallowed))] },
    { id: "blocked", title: "Blocked", number: true, value: (s) => s.blocked, cell: (s) => [count(s.blocked), h("div", { class: "quiet" }, trend(s.blocked, s.previous?.blocked))] },
  ], list, { caption: "Sites and their robots.txt", state, name: "sites", order: "site", id: (s) => s.site });
}

function top(state, summary) {
  return table([
    { id: "name", title: "Crawler", className: "name", value: (c) => c.token, cell: (c) => [crawlerLink(state, c), h("div", { class: "quiet" }, about(c)), calledNames(c)] },
    { id: "identity", title: "Is it really them?", className: "who", value: (c) => c.identities.verified, latest: true, cell: (c) => [identitySplit(c.identities), impostors(state, c)] },
    { id: "against", title: "Against the rules", className: "broken", number: true, value: (c) => c.disallowed, cell: (c) => [against(c.disallowed), h("div", { class: "quiet" }, trend(c.disallowed, c.previous?.disallowed))] },
    { id: "requests", title: "Requests", className: "asked", number: true, value: (c) => c.requests, cell: (c) => [count(c.requests), h("div", { class: "quiet" }, trend(c.requests, c.previous?.requests))] },
    { id: "page", title: "Top page", className: "page wide", value: (c) => c.top_path?.path ?? "", cell: (c) => topPage(c) },
    { id: "since", title: "Since", className: "seen", value: (c) => c.violating_since ?? "", latest: true, cell: (c) => when(c.violating_since) },
    { id: "action", title: "Action", className: "action", value: (c) => c.action, cell: (c) => actionBadge(c.action) },
    { id: "trend", title: "Over time", className: "trend", cell: (c) => sparkline(summary, c.sparkline) },
  ], summary.top, { caption: "Who breaks the rules most", class: "lines", state, name: "top", order: "-against", id: (c) => c.id });
}
