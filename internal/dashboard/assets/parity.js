// What crawlers really get from the site, and what comes back as visits.

import { h } from "./dom.js";
import { bytes, count, crawlerName, period, plural, share, siteName, when } from "./format.js";
import { about, badge, crawlerLink, downloads, identityBadge, panel } from "./parts.js";
import { table } from "./table.js";

const most = 10; // crawlers that are shown; the download has all

// answered shows what the site has answered, nothing where it has answered nothing yet.
export function answered(state, p) {
  if (!p.crawlers.length && !p.referrals.length && !p.findings.length) return null;
  const shown = p.crawlers.slice(0, most);
  return panel("parity", `What crawlers really get, ${period(p)}`, downloads(state, "parity"),
    p.findings.length ? h("ul", { class: "parity" }, p.findings.map((f) => h("li", { key: `${f.what} ${f.site} ${f.token} ${f.identity}`, class: `notice ${f.identity === "verified" ? "bad" : ""}` }, finding(state, f))))
      : h("p", {}, "Nobody who may come is refused, as far as was counted."),
    shown.length ? answers(state, shown) : null,
    p.crawlers.length > most ? h("p", { class: "quiet" }, `And ${plural(p.crawlers.length - most, "other", "others")}, in the download.`) : null,
    p.referrals.length ? [h("h3", { class: "back" }, "What comes back"), referrals(state, p.referrals)] : null);
}

const says = {
  pages_refused: "of the pages that it may fetch were refused",
  pages_fail: "of the pages that it may fetch were answered with an error of the server",
  robots_withheld: "of its requests for /robots.txt got something else instead of the file",
  robots_fails: "of its requests for /robots.txt were not answered with the file",
};

const finding = (state, f) => [
  crawlerLink(state, f), " ", identityBadge(f.identity), ` at ${siteName(f.site)}: `, h("b", {}, `${f.percent} % `),
  `${says[f.what]} (${count(f.bad)} of ${count(f.of)}), since `, when(f.since), "."];

const sum = (a) => Object.values(a).reduce((total, n) => total + n, 0);

// bad shows a number that should be none.
const bad = (n, of) => (n ? badge("severity warning", count(n), share(n, of)) : h("span", { class: "quiet" }, "0"));

const answers = (state, rows) => table([
  { id: "crawler", title: "Crawler", className: "name", value: (c) => c.token, cell: (c) => [h("span", { class: "nowrap" }, crawlerName(c.token, c.class), " ", identityBadge(c.identity)), h("div", { class: "quiet" }, about(c))] },
  { id: "allowed", title: "Allowed", number: true, value: (c) => sum(c.allowed), cell: (c) => count(sum(c.allowed)) },
  { id: "good", title: "2xx, 3xx", number: true, value: (c) => c.allowed["2xx"] + c.allowed["3xx"], cell: (c) => [count(c.allowed["2xx"] + c.allowed["3xx"]), h("div", { class: "quiet" }, share(c.allowed["2xx"] + c.allowed["3xx"], sum(c.allowed)))] },
  { id: "refused", title: "401, 403", number: true, value: (c) => c.allowed.refused, cell: (c) => bad(c.allowed.refused, sum(c.allowed)) },
  { id: "many", title: "429", number: true, value: (c) => c.allowed.too_many, cell: (c) => bad(c.allowed.too_many, sum(c.allowed)) },
  { id: "errors", title: "5xx", number: true, value: (c) => c.allowed["5xx"], cell: (c) => bad(c.allowed["5xx"], sum(c.allowed)) },
  { id: "none", title: "404, 410", number: true, value: (c) => c.allowed.not_found, cell: (c) => (c.allowed.not_found ? count(c.allowed.not_found) : h("span", { class: "quiet" }, "0")) },
  { id: "file", title: "robots.txt", number: true, value: (c) => sum(c.robots_txt), cell: (c) => file(c.robots_txt) },
  { id: "bytes", title: "Sent", number: true, value: (c) => c.bytes, cell: (c) => bytes(c.bytes) },
], rows, { caption: "What the site has answered to each crawler", state, name: "answers", order: "", id: (c) => `${c.token} ${c.class} ${c.identity}` });

// file shows how often the robots.txt was asked for, and not served.
function file(a) {
  const failed = a["5xx"] + a.too_many + a.refused;
  return [count(sum(a)), failed ? h("div", {}, badge("severity warning", `${count(failed)} failed`)) : null];
}

const referrals = (state, rows) => table([
  { id: "operator", title: "Operator", className: "name", value: (r) => r.operator, cell: (r) => [r.operator, r.from.length ? h("div", { class: "quiet" }, r.from.map((a) => `${a.assistant} ${count(a.visits)}`).join(" · ")) : null] },
  { id: "fetches", title: "Pages fetched", number: true, value: (r) => r.fetches, cell: (r) => count(r.fetches) },
  { id: "visits", title: "Visits from its assistants", number: true, value: (r) => r.visits, cell: (r) => count(r.visits) },
  { id: "per", title: "Fetched for a visit", number: true, value: (r) => r.fetches_per_visit ?? Infinity, cell: (r) => (r.fetches_per_visit === undefined ? h("span", { class: "quiet" }, "–") : r.fetches_per_visit < 10 ? r.fetches_per_visit.toFixed(1) : count(r.fetches_per_visit)) },
], rows.slice(0, most), { caption: "What AI crawlers take and assistants bring", state, name: "back", order: "", id: (r) => r.operator });
