// The view Now: the current state.

import { advice } from "./actions.js";
import { chart, order, sparkline, swatch } from "./chart.js";
import { h } from "./dom.js";
import { count, inPeriod, percent, period, plural, share, siteName, verdictName, verdicts, when } from "./format.js";
import { actionBadge, badge, changeLink, clientNames, counted, crawlerLink, downloads, empty, exampleURL, filtered, findings, health, hostOf, identitySplit, impostors, modeBadge, operatorAndClass, previous, section, topPage, trend, violationCount, withEarlier } from "./parts.js";
import { responseAudit } from "./parity.js";
import { href } from "./state.js";
import { table } from "./table.js";
import { alertsURL, hasAlert, todo } from "./todo.js";

export const title = "Now";

export const urls = (url) => ({ summary: url("summary.json"), parity: url("parity.json"), alerts: alertsURL });

export function render(state, { summary, parity, alerts }, redraw) {
  const none = summary.requests === 0;
  return [
    h("h1", {}, "Now"),
    todo(state, alerts, summary.search_blocked, redraw),
    none ? null : glance(state, summary),
    tiles(summary),
    summary.on_disallowed ? h("p", { class: "quiet", key: "people" }, `Browsers, and bots that look like browsers, sent ${plural(summary.on_disallowed, "request", "requests")} for disallowed URLs in ${inPeriod(summary)}.`) : null,
    none ? nothing(state, summary) : section(`Requests by verdict, ${period(summary)}`, downloads(state, "summary"),
      h("div", { class: "chartrow" }, chart("now", summary, summary.series, summary.marks, redraw, (m) => changeLink(state, m)), breakdown(summary))),
    historyLost(summary),
    section("Sites", null, summary.sites_now.length ? sites(state, summary.sites_now, alerts)
      : empty("No site yet", "A site appears here after the first crawler request. Its site block needs the directive robots_guard.")),
    summary.sites_now.filter((s) => s.site === state.site && s.hosts?.length).map((s) => section(`Hosts of ${siteName(s.site)}`, null, h("p", { class: "quiet" }, withEarlier), tenants(state, s))),
    none ? null : section("Most violations", h("a", { href: href(state, { view: "crawlers" }) }, `All ${count(summary.crawlers)}`), top(state, summary)),
    responseAudit(state, parity),
  ];
}

// glance answers an owner's first questions about the crawler with the most violations.
function glance(state, s) {
  const c = s.top.find((c) => c.disallowed);
  const answer = (question, ...text) => h("div", { key: question }, h("dt", {}, question), h("dd", {}, text));
  if (!c) return h("section", { class: "panel good glance", key: "glance" }, h("h2", {}, `No violations in ${inPeriod(s)}`));
  const page = c.top_path;
  return h("section", { class: "panel glance", key: "glance" }, h("h2", { class: "unseen" }, "At a glance"), h("dl", {},
    answer("Who breaks the rules most?", crawlerLink(state, c), h("span", { class: "quiet" }, ` ${count(c.disallowed)} of ${plural(s.disallowed, "violation", "violations")}`)),
    answer("Which page?", page?.path ? [h("code", { class: "path", title: page.path }, page.path), h("span", { class: "quiet" }, ` ${hostOf(page)}`)] : "not stored"),
    answer("Since when?", when(c.violating_since ?? c.first_seen)),
    answer("Is it really them?", identitySplit(c.identities), h("span", { class: "quiet" }, ` ${c.operator ?? ""}`)),
    answer("What should I do?", advice(state, { crawler: c }), " ", h("a", { href: href(state, { view: "crawlers", open: c.id }) }, "Lines to copy"))));
}

function tiles(s) {
  const judged = s.allowed + s.stale + s.disallowed;
  const before = s.previous; // counts of the previous period
  return h("dl", { class: "tiles" },
    tile("Crawler requests", count(s.requests), plural(s.crawlers, "crawler", "crawlers"), "", previous(s.requests, before?.requests)),
    tile("Violations", count(s.disallowed), outcomes(s), s.disallowed ? "against" : "", previous(s.disallowed, before?.disallowed)),
    tile("In grace", count(s.stale), "disallowed by a recent change, and passed", "", previous(s.stale, before?.stale)),
    tile("Compliance", percent(s.compliance), judged ? `${count(judged - s.disallowed)} of ${count(judged)} requests to which rules apply` : "no requests to which rules apply", "", previous(0, compliance(before), percent)));
}

// outcomes splits the number of violations. The parts add up. The guard can also block requests
// that are no violations.
function outcomes(s) {
  const { violations_blocked: blocked, violations_only_logged: onlyLogged } = s;
  return [`${count(blocked)} blocked`, ` + ${count(s.disallowed - blocked - onlyLogged)} would be blocked`, onlyLogged ? ` + ${count(onlyLogged)} only_log` : null,
    s.blocked > blocked ? `; ${plural(s.blocked - blocked, "other request", "other requests")} blocked` : null];
}

// compliance returns the percentage of requests without a violation, among those to which rules apply.
function compliance(c) {
  const good = c ? c.allowed + c.stale : 0;
  return c && good + c.disallowed ? (100 * good) / (good + c.disallowed) : undefined;
}

const tile = (name, number, note, kind = "", change = null) => h("div", { class: `tile ${kind}`, key: name }, h("dt", {}, name), h("dd", { class: "big" }, number), h("dd", { class: "note" }, note), change ? h("dd", { class: "change" }, change) : null);

const nothing = (state, s) => section("Requests by verdict", null, filtered(state)
  ? empty("Nothing matches", `No request in ${inPeriod(s)} matches these filters.`)
  : empty(`No crawler in ${inPeriod(s)}`,
    "This chart shows the requests of crawlers by verdict. To send such a request:",
    `curl -A "GPTBot/1.3" ${exampleURL(s)}/`));

const breakdown = (s) => h("table", { class: "plain breakdown" }, h("caption", { class: "unseen" }, "Requests by verdict"),
  h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "verdict"), h("th", { scope: "col", class: "number" }, "requests"), h("th", { scope: "col", class: "number" }, "share"))),
  h("tbody", {}, [...order].reverse().map((verdict) => h("tr", { key: verdict },
    h("th", { scope: "row", title: verdicts[verdict] }, swatch(verdict), verdictName(verdict)),
    h("td", { class: "number" }, count(s[verdict])), h("td", { class: "number quiet" }, share(s[verdict], s.requests))))),
  h("tfoot", {}, h("tr", {}, h("th", { scope: "row" }, "total"), h("td", { class: "number" }, count(s.requests)), h("td", { class: "number quiet" }, s.requests ? "100 %" : "–"))));

// hosts lists the most requested hosts of a site that stands for several.
const hosts = (state, s) => (s.hosts?.length ? h("div", { class: "quiet", title: withEarlier }, s.hosts.slice(0, 3).map((n, i) => [i ? ", " : "", `${n.host} `, counted(n)]),
  s.hosts.length > 3 && state.site !== s.site ? [" ", h("a", { href: href(state, { site: s.site }) }, `all ${count(s.hosts.length)}`)] : null) : null);

// tenants is the table of the hosts of a site that stands for several.
const tenants = (state, s) => table([
  { id: "host", title: "Host", className: "wide", value: (n) => n.host, cell: (n) => h("a", { href: href(state, { view: "violations", site: s.site, host: n.host }) }, n.host) },
  { id: "requests", title: "Requests", number: true, value: (n) => n.count, cell: (n) => counted(n) },
  { id: "against", title: "Violations", className: "violations", number: true, value: (n) => n.disallowed, cell: (n) => violationCount(n.disallowed) },
  { id: "blocked", title: "Blocked", number: true, value: (n) => n.blocked, cell: (n) => count(n.blocked) },
  { id: "first", title: "First seen", value: (n) => n.first, latest: true, cell: (n) => when(n.first) },
  { id: "last", title: "Last seen", value: (n) => n.last, latest: true, cell: (n) => when(n.last) },
], s.hosts, { caption: `Hosts of ${siteName(s.site)}`, key: `hosts ${s.site}`, state, name: "hosts", order: "-against", id: (n) => n.host });

// historyLost warns that a restart deletes the counts.
const historyLost = (s) => (s.history?.why ? h("p", { class: "notice", key: "forgotten" }, "A restart deletes the counts: ", s.history.why, ".") : null);

// Kinds of alerts about the state of a robots.txt.
const robotsAlerts = ["not_protecting", "robots_gone", "unreachable"];

function sites(state, list, alerts) {
  return table([
    { id: "site", title: "Site", value: (s) => s.site, cell: (s) => [h("a", { href: href(state, { view: "robots", site: s.site }) }, siteName(s.site)), hosts(state, s)] },
    { id: "mode", title: "Mode", value: (s) => s.mode ?? "", cell: (s) => modeBadge(s.mode) },
    { id: "robots", title: "robots.txt", className: "wide", value: (s) => s.robots.state, cell: (s) => [health(s.site, s.robots, hasAlert(alerts, robotsAlerts, s.site)), s.robots.held_until ? [" ", badge("severity warning", ["earlier version in force, until ", when(s.robots.held_until)])] : null] },
    { id: "findings", title: "Findings", value: (s) => s.robots.findings.errors * 1e6 + s.robots.findings.warnings * 1e3 + s.robots.findings.infos, number: false, latest: true, cell: (s) => findings(s.robots.findings) },
    { id: "requests", title: "Requests", number: true, value: (s) => s.requests, cell: (s) => [count(s.requests), h("div", { class: "quiet" }, trend(s.requests, s.previous?.requests))] },
    { id: "against", title: "Violations", className: "violations", number: true, value: (s) => s.disallowed, cell: (s) => [violationCount(s.disallowed), h("div", { class: "quiet" }, trend(s.disallowed, s.previous?.disallowed))] },
    { id: "blocked", title: "Blocked", number: true, value: (s) => s.blocked, cell: (s) => [count(s.blocked), h("div", { class: "quiet" }, trend(s.blocked, s.previous?.blocked))] },
  ], list, { caption: "Sites and their robots.txt", state, name: "sites", order: "site", id: (s) => s.site });
}

function top(state, summary) {
  return table([
    { id: "name", title: "Crawler", className: "name", value: (c) => c.token, cell: (c) => [crawlerLink(state, c), h("div", { class: "quiet" }, operatorAndClass(c)), clientNames(c)] },
    { id: "identity", title: "Identity", className: "identities", value: (c) => c.identities.verified, latest: true, cell: (c) => [identitySplit(c.identities), impostors(state, c)] },
    { id: "against", title: "Violations", className: "violations", number: true, value: (c) => c.disallowed, cell: (c) => [violationCount(c.disallowed), h("div", { class: "quiet" }, trend(c.disallowed, c.previous?.disallowed))] },
    { id: "requests", title: "Requests", number: true, value: (c) => c.requests, cell: (c) => [count(c.requests), h("div", { class: "quiet" }, trend(c.requests, c.previous?.requests))] },
    { id: "page", title: "Top page", className: "page wide", value: (c) => c.top_path?.path ?? "", cell: (c) => topPage(c) },
    { id: "since", title: "Since", className: "seen", value: (c) => c.violating_since ?? "", latest: true, cell: (c) => when(c.violating_since) },
    { id: "action", title: "Action", className: "action", value: (c) => c.action, cell: (c) => actionBadge(c.action) },
    { id: "trend", title: "Over time", className: "trend", cell: (c) => sparkline(summary, c.sparkline) },
  ], summary.top, { caption: "Crawlers with the most violations", class: "lines", state, name: "top", order: "-against", id: (c) => c.id });
}
