// Trials of a robots.txt: its effect on the requests if it were in force.

import { h } from "./dom.js";
import { count, crawlerName, plural, shortVersion, when } from "./format.js";
import { badge, counted, downloads, identityBadge, operatorAndClass, panel } from "./parts.js";
import { table } from "./table.js";

// trials shows the trials of a site and the errors of trial files. It returns null without a trial
// file.
export function trials(state, s) {
  const broken = s.texts.filter((t) => t.error);
  if (!s.trials.length && !s.texts.length) return null;
  return panel("trials", "Trial", s.trials.length ? downloads(state, "shadow", { site: s.filter.site }) : null,
    broken.map((t) => h("p", { class: "notice", key: t.from }, h("code", {}, t.from), t.version ? " cannot be read; the trial uses the last copy: " : " cannot be read, so no trial runs: ", t.error, ".")),
    s.trials.length ? s.trials.map((t) => trial(state, t))
      : broken.length ? null : h("p", { class: "quiet" }, s.texts.map((t, i) => [i ? ", " : "", h("code", {}, t.from)]), " is on trial. No request to this site has been compared yet."));
}

function trial(state, t) {
  const rows = t.crawlers.flatMap((c) => c.pages.map((p) => ({ ...p, crawler: c })));
  return h("div", { key: `${t.authority ?? ""} ${t.from}` },
    h("p", {}, h("code", {}, t.from), " ", h("span", { class: "quiet" }, h("code", { title: `SHA-256 ${t.tried}` }, shortVersion(t.tried)), t.authority ? ` compared with the file in force at ${t.authority}, since ` : " compared with the files in force, since ", when(t.since))),
    result(t),
    rows.length ? pages(state, rows) : null);
}

// result summarizes a trial, search engines first.
function result(t) {
  const all = ["Of ", h("b", {}, plural(t.requests, "request", "requests")), " compared, the trial would disallow ", h("b", {}, count(t.newly_forbidden)), " more and allow ", h("b", {}, count(t.newly_allowed)), " more. "];
  if (t.search.newly_forbidden) return h("p", { class: "notice bad" }, all, h("b", {}, `${count(t.search.newly_forbidden)} of them are from search engines`), ". A search engine may drop pages that it cannot fetch.");
  if (!t.search.requests) return h("p", {}, all, "There was no request from a search engine yet, so wait.");
  return h("p", {}, all, `None of the ${plural(t.search.requests, "request", "requests")} from search engines would be disallowed.`);
}

const names = { newly_forbidden: "newly disallowed", newly_allowed: "newly allowed" };

const line = (l) => (l.line ? [h("code", {}, l.rule), h("span", { class: "quiet nowrap" }, ` line ${l.line}`)] : h("span", { class: "quiet" }, "no rule"));

const pages = (state, rows) => table([
  { id: "crawler", title: "Crawler", className: "name", value: (r) => r.crawler.token, cell: (r) => [h("span", { class: "nowrap" }, crawlerName(r.crawler.token, r.crawler.class), " ", identityBadge(r.crawler.identity)), h("div", { class: "quiet" }, operatorAndClass(r.crawler))] },
  { id: "difference", title: "Difference", value: (r) => names[r.difference], cell: (r) => badge(r.difference === "newly_forbidden" ? "severity error" : "severity info", names[r.difference]) },
  { id: "page", title: "Page", className: "wide", value: (r) => r.path, cell: (r) => [h("code", { class: "path", title: r.path }, r.path), r.host ? h("div", { class: "quiet" }, r.host) : null] },
  { id: "count", title: "Requests", number: true, value: (r) => r.count, cell: (r) => counted(r) },
  { id: "would", title: "Rule of the trial", value: (r) => r.would.line, cell: (r) => line(r.would) },
  { id: "was", title: "Rule in force", value: (r) => r.was.line, cell: (r) => line(r.was) },
  { id: "last", title: "Last", value: (r) => r.last, latest: true, cell: (r) => when(r.last) },
], rows, { caption: "Pages with a different verdict in the trial", state, name: "tried", order: "", id: (r) => `${r.crawler.token} ${r.crawler.class} ${r.crawler.identity} ${r.difference} ${r.host ?? ""} ${r.path} ${r.was.line} ${r.would.line}` });
