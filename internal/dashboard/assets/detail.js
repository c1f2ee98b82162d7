// The details of one crawler.

import { actions } from "./actions.js";
import { chart } from "./chart.js";
import { h } from "./dom.js";
import { afterFetch, className, count, crawlerName, plural, rate, shortVersion, siteName, stamp, verdictName, when } from "./format.js";
import { actionBadge, badge, changeLink, counted, hostOf, identityBadge, rule, safeURL, verdictBadge } from "./parts.js";
import { dataURL, href } from "./state.js";

export function detail(state, { detail: d, errors }, redraw) {
  if (!d) {
    return h("div", { class: "detail" }, h("p", { class: "quiet" }, errors?.detail === 404 ? "This crawler has no request that matches the filters." : "Loading …"));
  }
  const c = d.crawler;
  const id = { id: c.id };
  return h("div", { class: "detail", key: c.id },
    h("div", { class: "detailhead" },
      h("p", {}, `First seen `, when(c.first_seen), ", last ", when(c.last_seen), ". ",
        c.token === "_spoofed" ? "The stricter of the group of the name and the * group applies." : c.wildcard ? "The * group applies if no group names it." : "Only a group that names it applies.",
        " ", c.documentation ? h("a", { href: safeURL(c.documentation), rel: "noreferrer", target: "_blank" }, "Documentation") : null),
      h("p", { class: "exports" }, "Evidence: ",
        h("a", { class: "button", href: dataURL("evidence.txt", state, id), download: "" }, "text"), " ",
        h("a", { class: "button", href: dataURL("evidence.json", state, id), download: "" }, "JSON"), " ",
        h("a", { class: "button", href: dataURL("crawler.csv", state, id), download: "" }, "paths as CSV"))),
    c.against ? h("p", {}, "It sent ", h("b", {}, plural(c.against.requests, "request", "requests")), " for pages with the preference ", h("code", {}, c.against.stated), ". It had fetched that robots.txt before: ", afterFetch(c.against), ". A preference disallows no requests, so these are no violations.") : null,
    actions(state, d),
    chart(`crawler ${c.id}`, d, d.series, d.marks, redraw, (m) => changeLink(state, m)),
    h("p", { class: "quiet" }, "The chart and the table of sites count the selected time. Rules, pages, User-Agents and networks also count earlier requests."),
    h("div", { class: "columns" },
      part("Rules", rules(state, d), "No request was disallowed."),
      part("Sites", sites(d), "None.")),
    c.names?.length ? part("Names in the User-Agents", names(c)) : null,
    part("Pages with violations", paths(state, d), "None in this window."),
    part("Last violations", recent(state, d), "None in this window."),
    h("div", { class: "columns" },
      part("User-Agents", agents(d), "None stored."),
      part("Networks of violations", networks(d), "None stored. The guard stores only networks (/24, /48) of violations.")),
    h("p", {}, h("a", { href: href(state, { open: "" }) }, `Close ${crawlerName(c.token, c.class, c.names)}`)));
}

// hostAndName returns the requested host, and the client's own name under a shared token.
const hostAndName = (r) => (r.name ? `${hostOf(r)}, as ${r.name}` : hostOf(r));

const part = (title, content, none) => h("section", { class: "part", key: title }, h("h3", {}, title), content ?? h("p", { class: "quiet" }, none));

// list returns a small table, or null without rows. A head that starts with # is a column of numbers.
// A wide table scrolls. On a phone each row becomes a card; see table.js about the roles.
export function list(caption, heads, rows) {
  if (!rows.length) return null;
  const columns = heads.map((head) => ({ title: head.replace(/^#/, ""), class: head.startsWith("#") ? "number" : undefined }));
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    h("table", { role: "table", class: "plain" }, h("caption", { class: "unseen" }, caption),
      h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, columns.map((c) => h("th", { role: "columnheader", scope: "col", class: c.class }, c.title)))),
      h("tbody", { role: "rowgroup" }, rows.map((cells) => h("tr", { role: "row" }, cells.map((cell, i) => h("td", { role: "cell", class: columns[i].class },
        i > 0 ? h("span", { class: "cellname", "aria-hidden": "true" }, columns[i].title) : null, h("div", {}, cell))))))));
}

const names = (c) => list("Names", ["Name", "Class", "#Requests", "#Violations", "First", "Last"], c.names.map((n) => [
  h("code", { class: "path" }, n.name), className(n.class), counted(n), n.disallowed ? `≥ ${count(n.disallowed)}` : "0", when(n.first), when(n.last)]));

const rules = (state, d) => list("Rules", ["Rule", "Verdict", "#Requests", "First", "Last"], d.rules.map((r) => [
  [rule(state, r), h("div", { class: "quiet" }, `User-agent: ${r.group}, ${siteName(r.site)}`)], verdictBadge(r.verdict), counted(r), when(r.first), when(r.last)]));

const sites = (d) => list("Sites", ["Site", "#Requests", "#Violations", "#Rate now", "robots.txt fetched"], d.sites_seen.map((s) => [
  siteName(s.site), count(s.requests), count(s.disallowed), [rate(s.rate.per_minute), s.rate.exceeds ? [" ", badge("severity warning", "too fast")] : null, s.slowed ? ` ${count(s.slowed)} slowed` : null],
  s.read ? h("span", { class: "fetch" }, when(s.read.at), ` (${s.read.current ? "current" : s.read.version ? shortVersion(s.read.version) : `status ${s.read.status}`}), ${plural(s.since_read, "request", "requests")} since`) : "never"]));

const paths = (state, d) => list("Pages with violations", ["Page", "Rule", "Verdict", "#Requests", "First", "Last"], d.paths.map((p) => [
  [h("code", { class: "path" }, p.path), h("div", { class: "quiet" }, hostAndName(p))], rule(state, p), verdictBadge(p.verdict),
  counted(p), when(p.first), when(p.last)]));

// fetchedVersions describe the version that a crawler had fetched before a request.
const fetchedVersions = { never: "none", old: "earlier version", current: "current version" };

const recent = (state, d) => list("Last violations", ["Time", "Request", "Rule", "Action", "Identity", "Network", "robots.txt fetched"], d.recent.map((r) => [
  h("time", { datetime: r.at, class: "nowrap" }, stamp(r.at)), [h("code", { class: "path" }, `${r.method} ${r.path}`), h("div", { class: "quiet" }, hostAndName(r))], rule(state, r),
  r.verdict === "disallowed" ? actionBadge(r.action) : verdictName(r.verdict), identityBadge(r.identity), h("span", { class: "nowrap" }, r.network), fetchedVersions[r.read] ?? r.read ?? ""]));

const agents = (d) => list("User-Agents", ["User-Agent", "#Requests", "First", "Last"], d.agents.map((a) => [h("code", { class: "path" }, a.user_agent), counted(a), when(a.first), when(a.last)]));

const networks = (d) => list("Networks", ["Network", "Identity", "#Requests", "First", "Last"], d.networks.map((n) => [h("code", {}, n.network), identityBadge(n.identity), counted(n), when(n.first), when(n.last)]));
