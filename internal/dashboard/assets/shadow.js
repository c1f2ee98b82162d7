// A text that is tried: what it would change if it were in force.

import { h } from "./dom.js";
import { count, crawlerName, plural, shortVersion, when } from "./format.js";
import { about, badge, counted, downloads, identityBadge, panel } from "./parts.js";
import { table } from "./table.js";

// tried shows the trials of a site, and why a text is not tried; nothing where none
// is to be.
export function tried(state, s) {
  const broken = s.texts.filter((t) => t.error);
  if (!s.trials.length && !s.texts.length) return null;
  return panel("tried", "A text that is tried", s.trials.length ? downloads(state, "shadow", { site: s.filter.site }) : null,
    broken.map((t) => h("p", { class: "notice", key: t.from }, h("code", {}, t.from), t.version ? " cannot be read any more, and is tried as it was: " : " is not tried: ", t.error, ".")),
    s.trials.length ? s.trials.map((t) => trial(state, t))
      : broken.length ? null : h("p", { class: "quiet" }, s.texts.map((t, i) => [i ? ", " : "", h("code", {}, t.from)]), " is tried on this server, and has judged no request to this site yet."));
}

function trial(state, t) {
  const rows = t.crawlers.flatMap((c) => c.pages.map((p) => ({ ...p, crawler: c })));
  return h("div", { key: `${t.authority ?? ""} ${t.from}` },
    h("p", {}, h("code", {}, t.from), " ", h("span", { class: "quiet" }, h("code", { title: `SHA-256 ${t.tried}` }, shortVersion(t.tried)), t.authority ? ` beside the text in force at ${t.authority}, since ` : " beside the texts in force, since ", when(t.since))),
    verdict(t),
    rows.length ? pages(state, rows) : null);
}

// verdict says whether the text can be put in force, as far as requests have shown.
function verdict(t) {
  const all = ["Of ", h("b", {}, plural(t.requests, "request", "requests")), " judged by both it would newly forbid ", h("b", {}, count(t.newly_forbidden)), " and newly allow ", h("b", {}, count(t.newly_allowed)), ". "];
  if (t.search.newly_forbidden) return h("p", { class: "notice bad" }, all, h("b", {}, `${count(t.search.newly_forbidden)} of them of search engines would be forbidden`), ": what a search engine cannot fetch, it may drop from its results.");
  if (!t.search.requests) return h("p", {}, all, "No search engine has come yet, so wait.");
  return h("p", {}, all, `None of ${plural(t.search.requests, "request", "requests")} of search engines would be forbidden.`);
}

const names = { newly_forbidden: "newly forbidden", newly_allowed: "newly allowed" };

const line = (l) => (l.line ? [h("code", {}, l.rule), h("span", { class: "quiet nowrap" }, ` line ${l.line}`)] : h("span", { class: "quiet" }, "no rule"));

const pages = (state, rows) => table([
  { id: "crawler", title: "Crawler", className: "name", value: (r) => r.crawler.token, cell: (r) => [h("span", { class: "nowrap" }, crawlerName(r.crawler.token, r.crawler.class), " ", identityBadge(r.crawler.identity)), h("div", { class: "quiet" }, about(r.crawler))] },
  { id: "difference", title: "Would be", value: (r) => names[r.difference], cell: (r) => badge(r.difference === "newly_forbidden" ? "severity error" : "severity info", names[r.difference]) },
  { id: "page", title: "Page", className: "wide", value: (r) => r.path, cell: (r) => [h("code", { class: "path", title: r.path }, r.path), r.host ? h("div", { class: "quiet" }, r.host) : null] },
  { id: "count", title: "Requests", number: true, value: (r) => r.count, cell: (r) => counted(r) },
  { id: "would", title: "By the text that is tried", value: (r) => r.would.line, cell: (r) => line(r.would) },
  { id: "was", title: "In force", value: (r) => r.was.line, cell: (r) => line(r.was) },
  { id: "last", title: "Last", value: (r) => r.last, latest: true, cell: (r) => when(r.last) },
], rows, { caption: "Pages about which the text that is tried differs", state, name: "tried", order: "", id: (r) => `${r.crawler.token} ${r.crawler.class} ${r.crawler.identity} ${r.difference} ${r.host ?? ""} ${r.path} ${r.was.line} ${r.would.line}` });
