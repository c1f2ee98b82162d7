// The response audit: the responses to crawlers, and the visits from assistants.

import { h } from "./dom.js";
import { bytes, count, crawlerName, period, plural, share, siteName, when } from "./format.js";
import { badge, crawlerLink, downloads, identityBadge, operatorAndClass, panel } from "./parts.js";
import { table } from "./table.js";

const maxRows = 10; // the download has all rows

// responseAudit shows the audit, or null without responses.
export function responseAudit(state, p) {
  if (!p.crawlers.length && !p.referrals.length && !p.findings.length) return null;
  const shown = p.crawlers.slice(0, maxRows);
  return panel("parity", `Response audit, ${period(p)}`, downloads(state, "parity"),
    p.findings.length ? h("ul", { class: "parity" }, p.findings.map((f) => h("li", { key: `${f.what} ${f.site} ${f.token} ${f.identity}`, class: `notice ${f.identity === "verified" ? "bad" : ""}` }, finding(state, f))))
      : h("p", {}, "No crawler is refused a page that robots.txt allows."),
    shown.length ? answers(state, shown) : null,
    p.crawlers.length > maxRows ? h("p", { class: "quiet" }, `${plural(p.crawlers.length - maxRows, "more crawler is", "more crawlers are")} in the download.`) : null,
    p.referrals.length ? [h("h3", { class: "back" }, "Visits from assistants"), referrals(state, p.referrals)] : null);
}

const descriptions = {
  pages_refused: "of the allowed pages were refused",
  pages_fail: "of the allowed pages failed with a server error",
  robots_withheld: "of the responses to /robots.txt were not the file",
  robots_fails: "of the requests for /robots.txt failed",
};

const finding = (state, f) => [
  crawlerLink(state, f), " ", identityBadge(f.identity), ` at ${siteName(f.site)}: `, h("b", {}, `${f.percent} % `),
  `${descriptions[f.what]} (${count(f.bad)} of ${count(f.of)}), since `, when(f.since), "."];

const sum = (a) => Object.values(a).reduce((total, n) => total + n, 0);

// problemCount shows a number that should be 0.
const problemCount = (n, of) => (n ? badge("severity warning", count(n), share(n, of)) : h("span", { class: "quiet" }, "0"));

const answers = (state, rows) => table([
  { id: "crawler", title: "Crawler", className: "name", value: (c) => c.token, cell: (c) => [h("span", { class: "nowrap" }, crawlerName(c.token, c.class), " ", identityBadge(c.identity)), h("div", { class: "quiet" }, operatorAndClass(c))] },
  { id: "allowed", title: "Allowed", number: true, value: (c) => sum(c.allowed), cell: (c) => count(sum(c.allowed)) },
  { id: "good", title: "2xx, 3xx", number: true, value: (c) => c.allowed["2xx"] + c.allowed["3xx"], cell: (c) => [count(c.allowed["2xx"] + c.allowed["3xx"]), h("div", { class: "quiet" }, share(c.allowed["2xx"] + c.allowed["3xx"], sum(c.allowed)))] },
  { id: "refused", title: "401, 403", number: true, value: (c) => c.allowed.refused, cell: (c) => problemCount(c.allowed.refused, sum(c.allowed)) },
  { id: "many", title: "429", number: true, value: (c) => c.allowed.too_many, cell: (c) => problemCount(c.allowed.too_many, sum(c.allowed)) },
  { id: "errors", title: "5xx", number: true, value: (c) => c.allowed["5xx"], cell: (c) => problemCount(c.allowed["5xx"], sum(c.allowed)) },
  { id: "none", title: "404, 410", number: true, value: (c) => c.allowed.not_found, cell: (c) => (c.allowed.not_found ? count(c.allowed.not_found) : h("span", { class: "quiet" }, "0")) },
  { id: "file", title: "robots.txt", number: true, value: (c) => sum(c.robots_txt), cell: (c) => robotsRequests(c.robots_txt) },
  { id: "bytes", title: "Bytes", number: true, value: (c) => c.bytes, cell: (c) => bytes(c.bytes) },
], rows, { caption: "Responses to each crawler", state, name: "answers", order: "", id: (c) => `${c.token} ${c.class} ${c.identity}` });

// robotsRequests shows the requests for robots.txt, and how many failed.
function robotsRequests(a) {
  const failed = a["5xx"] + a.too_many + a.refused;
  return [count(sum(a)), failed ? h("div", {}, badge("severity warning", `${count(failed)} failed`)) : null];
}

const referrals = (state, rows) => table([
  { id: "operator", title: "Operator", className: "name", value: (r) => r.operator, cell: (r) => [r.operator, r.from.length ? h("div", { class: "quiet" }, r.from.map((a) => `${a.assistant} ${count(a.visits)}`).join(" · ")) : null] },
  { id: "fetches", title: "Pages fetched", number: true, value: (r) => r.fetches, cell: (r) => count(r.fetches) },
  { id: "visits", title: "Visits", number: true, value: (r) => r.visits, cell: (r) => count(r.visits) },
  { id: "per", title: "Pages per visit", number: true, value: (r) => r.fetches_per_visit ?? Infinity, cell: (r) => (r.fetches_per_visit === undefined ? h("span", { class: "quiet" }, "–") : r.fetches_per_visit < 10 ? r.fetches_per_visit.toFixed(1) : count(r.fetches_per_visit)) },
], rows.slice(0, maxRows), { caption: "Pages fetched by AI crawlers, and visits from assistants", state, name: "back", order: "", id: (r) => r.operator });
