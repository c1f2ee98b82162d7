// Impact: what enforce does, or would have done.

import { h } from "./dom.js";
import { className, count, inPeriod, period, plural, share, siteName } from "./format.js";
import { base, crawlerLink, downloads, empty, filtered, identitySplit, lineLink, modeBadge, section } from "./parts.js";

export const title = "Impact";

export const urls = (url) => ({ impact: url("impact.json") });

export function render(state, { impact: i }) {
  const search = i.by_class.find((c) => c.class === "search");
  const monitored = i.modes.filter((m) => m.mode === "monitor" || m.mode === "mixed");
  return [
    h("h1", {}, "What enforce means"),
    h("p", { class: "lead" }, sentence(i)),
    i.requests === 0 ? section("By class", null, nothing(state, i)) : [
      searchPanel(state, search),
      section(`By class, ${period(i)}`, downloads(state, "impact"), classes(state, i)),
    ],
    section("Modes", null, i.modes.length ? h("ul", { class: "modes" }, i.modes.map((m) => h("li", { key: m.site }, siteName(m.site), " ", modeBadge(m.mode)))) : h("p", { class: "quiet" }, "No site yet."),
      monitored.length ? h("p", {}, `To switch from monitor to enforce, write `, h("code", {}, "robots_guard enforce"), " in the site's block and reload. Crawlers that you want to keep an eye on first: ",
        h("code", {}, "only_log search"), "; those that you never want judged: ", h("code", {}, "exempt <token>"), ".") : null),
  ];
}

function sentence(i) {
  const span = inPeriod(i);
  if (!i.blockable) return i.requests ? `In ${span} enforce would have blocked nothing.` : `Nothing was asked for in ${span}.`;
  return [`Of ${plural(i.requests, "request", "requests")} in ${span}, enforce concerns `, h("b", {}, count(i.blockable)), ` (${share(i.blockable, i.requests)}): `,
    h("b", {}, count(i.blocked)), ` ${i.blocked === 1 ? "was" : "were"} blocked, `, h("b", {}, count(i.would_block)), " more would have been."];
}

function searchPanel(state, search) {
  const spoofed = search?.crawlers.reduce((sum, c) => sum + c.identities.spoofed, 0);
  const liars = spoofed ? h("p", {}, `${plural(spoofed, "request", "requests")} under such a name ${spoofed === 1 ? "is" : "are"} spoofed: somebody else used it.`) : null;
  if (!search) return h("section", { class: "panel calm", key: "search" }, h("h2", {}, "Search engines"), h("p", {}, "None was seen in this window. A longer one says more."));
  if (!search.blockable) {
    return h("section", { class: "panel good", key: "search" }, h("h2", {}, "Search engines are not affected"),
      h("p", {}, `All ${plural(search.requests, "request", "requests")} of ${plural(search.crawlers.length, "search engine", "search engines")} would pass.`), liars);
  }
  return h("section", { class: "panel bad", key: "search" }, h("h2", {}, `${plural(search.blockable, "request", "requests")} of search engines ${search.blockable === 1 ? "is" : "are"} affected`),
    h("p", {}, "Look at these before you enforce: what a search engine cannot fetch, it may drop from its results. That is right where the rule is meant."), liars);
}

function classes(state, i) {
  const heads = [["Class and crawler"], ["Identity"], ["Requests", true], ["Kept the rules", true], ["Let off", true], ["Would be blocked", true], ["Blocked", true], ["Rules that decide"]];
  return h("table", { class: "table impact", role: "table" }, h("caption", { class: "unseen" }, "Requests that enforce concerns, by class and crawler"),
    h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, heads.map(([name, number]) => h("th", { role: "columnheader", scope: "col", class: `unsorted${number ? " number" : ""}` }, name)))),
    i.by_class.map((c) => h("tbody", { key: c.class, role: "rowgroup" },
      h("tr", { class: "group", role: "row" }, h("th", { role: "rowheader", scope: "row" }, h("div", { class: "cell" }, className(c.class))), cell(heads[1][0], ""), numbers(heads, c), cell(heads[7][0], "")),
      c.crawlers.map((k) => h("tr", { key: k.id, role: "row" },
        h("th", { role: "rowheader", scope: "row", class: "sub" }, h("div", { class: "cell" }, crawlerLink(state, { ...k, class: c.class }), h("span", { class: "quiet" }, k.operator ? ` ${k.operator}` : ""))),
        cell(heads[1][0], identitySplit(k.identities)), numbers(heads, k),
        cell(heads[7][0], k.rules.length ? h("ul", { class: "rules" }, k.rules.map((r) => h("li", {}, h("code", {}, r.rule), " ", lineLink(state, r), h("span", { class: "quiet" }, ` ${siteName(r.site)}`)))) : h("span", { class: "quiet" }, "none")))))));
}

const cell = (name, content, number) => h("td", { role: "cell", class: number ? "number" : undefined }, h("span", { class: "cellname", "aria-hidden": "true" }, name), h("div", { class: "cell" }, content));

// Let off is what enforce leaves alone although it did not keep the rules: stale, exempt
// and unknown requests, and those against the rules that are only logged. What
// is blocked for its false name is not within, whatever its path.
const numbers = (heads, c) => [
  cell(heads[2][0], count(c.requests), true), cell(heads[3][0], count(within(c)), true), cell(heads[4][0], count(c.requests - within(c) - c.blockable), true),
  cell(heads[5][0], h("span", { class: c.would_block ? "against" : "quiet" }, count(c.would_block)), true), cell(heads[6][0], h("span", { class: c.blocked ? "" : "quiet" }, count(c.blocked)), true),
];

const within = (c) => Math.min(c.allowed, c.requests - c.blockable);

const nothing = (state, i) => filtered(state)
  ? empty("Nothing matches", `No request in ${inPeriod(i)} matches these filters.`)
  : empty("No crawler yet", "Once crawlers have asked for pages, this tells which of their requests enforce would block, search engines first. Be one yourself:", `curl -A "bingbot/2.0" ${base(i)}/private/`);
