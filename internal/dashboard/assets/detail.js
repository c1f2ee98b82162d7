// All about one crawler.

import { actions } from "./actions.js";
import { chart } from "./chart.js";
import { h } from "./dom.js";
import { className, count, crawlerName, knew, plural, rate, shortVersion, siteName, stamp, verdictName, when } from "./format.js";
import { actionBadge, badge, changed, counted, identityBadge, place, rule, safeURL, verdictBadge } from "./parts.js";
import { dataURL, href } from "./state.js";

export function detail(state, { detail: d, errors }, redraw) {
  if (!d) {
    return h("div", { class: "detail" }, h("p", { class: "quiet" }, errors?.detail === 404 ? "It made no request that these filters let through." : "Reading the ledger …"));
  }
  const c = d.crawler;
  const id = { id: c.id };
  return h("div", { class: "detail", key: c.id },
    h("div", { class: "detailhead" },
      h("p", {}, `First seen `, when(c.first_seen), ", last ", when(c.last_seen), ". ",
        c.token === "_spoofed" ? "The stricter of the group of the name and the * group holds." : c.wildcard ? "The * group is meant for it." : "Only a group that names it is meant for it.",
        " ", c.documentation ? h("a", { href: safeURL(c.documentation), rel: "noreferrer", target: "_blank" }, "Its documentation") : null),
      h("p", { class: "exports" }, "Evidence: ",
        h("a", { class: "button", href: dataURL("evidence.txt", state, id), download: "" }, "readable text"), " ",
        h("a", { class: "button", href: dataURL("evidence.json", state, id), download: "" }, "JSON"), " ",
        h("a", { class: "button", href: dataURL("crawler.csv", state, id), download: "" }, "paths as CSV"))),
    c.against ? h("p", {}, "It asked for ", h("b", {}, plural(c.against.requests, "page", "pages")), " of which the robots.txt states ", h("code", {}, c.against.stated), "; it had read it: ", knew(c.against), ". That is no violation: a preference about use does not block fetching.") : null,
    actions(state, d),
    chart(`crawler ${c.id}`, d, d.series, d.marks, redraw, (m) => changed(state, m)),
    h("p", { class: "quiet" }, "The chart and the sites count the chosen time. Rules, paths, User-Agents and networks are counted from their first request to their last."),
    h("div", { class: "columns" },
      part("Rules", rules(state, d), "It made no request that a rule forbids."),
      part("Sites", sites(d), "None.")),
    c.names?.length ? part("What they call themselves", names(c)) : null,
    part("Pages against the rules", paths(state, d), "None in this window."),
    part("Last requests against the rules", recent(state, d), "None in this window."),
    h("div", { class: "columns" },
      part("User-Agents", agents(d), "None kept."),
      part("Networks of requests against the rules", networks(d), "None kept; addresses are kept for evidence only, cut to /24 and /48.")),
    h("p", {}, h("a", { href: href(state, { open: "" }) }, `Close ${crawlerName(c.token, c.class, c.names)}`)));
}

// by is where a page was asked for, and by which name of several.
const by = (r) => (r.name ? `${place(r)}, as ${r.name}` : place(r));

const part = (title, content, none) => h("section", { class: "part", key: title }, h("h3", {}, title), content ?? h("p", { class: "quiet" }, none));

// list is a small table; it scrolls by itself where it is too wide. On a phone each
// row becomes a card; the roles are spelt out since such a layout hides them.
export function list(caption, heads, rows) {
  if (!rows.length) return null;
  const columns = heads.map((head) => ({ title: head.replace(/^#/, ""), class: head.startsWith("#") ? "number" : undefined }));
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    h("table", { role: "table", class: "plain" }, h("caption", { class: "unseen" }, caption),
      h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, columns.map((c) => h("th", { role: "columnheader", scope: "col", class: c.class }, c.title)))),
      h("tbody", { role: "rowgroup" }, rows.map((cells) => h("tr", { role: "row" }, cells.map((cell, i) => h("td", { role: "cell", class: columns[i].class },
        i > 0 ? h("span", { class: "cellname", "aria-hidden": "true" }, columns[i].title) : null, h("div", {}, cell))))))));
}

const names = (c) => list("Names", ["Name", "Class", "#Requests", "#Against the rules", "From", "To"], c.names.map((n) => [
  h("code", { class: "path" }, n.name), className(n.class), counted(n), n.disallowed ? `≥ ${count(n.disallowed)}` : "0", when(n.first), when(n.last)]));

const rules = (state, d) => list("Rules", ["Rule", "Verdict", "#Requests", "From", "To"], d.rules.map((r) => [
  [rule(state, r), h("div", { class: "quiet" }, `User-agent: ${r.group}, ${siteName(r.site)}`)], verdictBadge(r.verdict), counted(r), when(r.first), when(r.last)]));

const sites = (d) => list("Sites", ["Site", "#Requests", "#Against", "#Rate now", "Read robots.txt"], d.sites_seen.map((s) => [
  siteName(s.site), count(s.requests), count(s.disallowed), [rate(s.rate.per_minute), s.rate.exceeds ? [" ", badge("severity warning", "faster than asked")] : null, s.slowed ? ` ${count(s.slowed)} slowed` : null],
  s.read ? h("span", { class: "reading" }, when(s.read.at), ` (${s.read.current ? "current" : s.read.version ? shortVersion(s.read.version) : `status ${s.read.status}`}), ${plural(s.since_read, "request", "requests")} since`) : "not seen"]));

const paths = (state, d) => list("Pages against the rules", ["Page", "Rule", "Verdict", "#Requests", "From", "To"], d.paths.map((p) => [
  [h("code", { class: "path" }, p.path), h("div", { class: "quiet" }, by(p))], rule(state, p), [verdictBadge(p.verdict), p.reason ? h("div", { class: "quiet" }, p.reason) : null],
  counted(p), when(p.first), when(p.last)]));

const known = { never: "never read it", old: "an earlier version", current: "the current version" };

const recent = (state, d) => list("Last requests against the rules", ["Time", "Request", "Rule", "Action", "Identity", "Network", "Knew"], d.recent.map((r) => [
  h("time", { datetime: r.at, class: "nowrap" }, stamp(r.at)), [h("code", { class: "path" }, `${r.method} ${r.path}`), h("div", { class: "quiet" }, by(r))], rule(state, r),
  r.verdict === "disallowed" ? actionBadge(r.action) : verdictName(r.verdict), identityBadge(r.identity), h("span", { class: "nowrap" }, r.network), known[r.read] ?? r.read ?? ""]));

const agents = (d) => list("User-Agents", ["User-Agent", "#Requests", "From", "To"], d.agents.map((a) => [h("code", { class: "path" }, a.user_agent), counted(a), when(a.first), when(a.last)]));

const networks = (d) => list("Networks", ["Network", "Identity", "#Requests", "From", "To"], d.networks.map((n) => [h("code", {}, n.network), identityBadge(n.identity), counted(n), when(n.first), when(n.last)]));
