// Impact: what enforce does, or would have done.

import { h } from "./dom.js";
import { className, count, inPeriod, period, plural, share, siteName } from "./format.js";
import { base, command, crawlerLink, downloads, empty, filtered, identitySplit, lineLink, modeBadge, panel, section, was } from "./parts.js";

export const title = "Impact";

export const urls = (url) => ({ impact: url("impact.json") });

export function render(state, { impact: i }) {
  const search = i.by_class.find((c) => c.class === "search");
  return [
    h("h1", {}, "What enforce means"),
    h("p", { class: "lead" }, sentence(i), " ", was(i.blockable, i.previous && i.previous.blocked + i.previous.would_block)),
    i.requests === 0 ? section("By class", null, nothing(state, i)) : [
      searchPanel(state, search),
      next(i),
      section(`By class, ${period(i)}`, downloads(state, "impact"), classes(state, i)),
    ],
    section("Modes", null, i.modes.length ? h("ul", { class: "modes" }, i.modes.map((m) => h("li", { key: m.site }, siteName(m.site), " ", modeBadge(m.mode)))) : h("p", { class: "quiet" }, "No site yet.")),
  ];
}

// What people see or rely on: to block one of these by mistake costs visitors, a
// preview, a feed or a warning.
const costly = ["search", "ai_search", "ai_assistant", "preview", "feed", "ads", "monitor", "service", "security"];

// next is the line to write next, for the sites that are monitored.
function next(i) {
  const monitored = i.modes.filter((m) => m.mode !== "enforce").map((m) => siteName(m.site));
  if (!monitored.length) return null;
  const affected = i.by_class.filter((c) => c.would_block);
  const safe = affected.filter((c) => !costly.includes(c.class));
  const others = affected.filter((c) => costly.includes(c.class));
  const sum = (list) => list.reduce((total, c) => total + c.would_block, 0);
  const names = (list) => list.map((c) => className(c.class)).join(", ");
  const rest = others.map((c) => c.class).join(" ");
  return panel("next", "The line to write next", h("p", {}, "in the Caddyfile, in place of ", h("code", {}, "robots_guard"), ` of ${monitored.slice(0, 3).join(", ")}${monitored.length > 3 ? " and others" : ""}; then reload`),
    h("dl", { class: "nextlines" },
      !others.length ? line("Everything", "robots_guard enforce", affected.length ? `Blocks ${plural(sum(affected), "such request", "such requests")}: ${names(affected)}. None was of a search engine, a preview, a feed reader or a monitor.` : "It would have blocked nothing in this time. A longer time says more.") : null,
      others.length && safe.length ? line("Gently", `robots_guard enforce ${safe.map((c) => c.class).join(" ")}`, `Blocks ${plural(sum(safe), "such request", "such requests")}: ${names(safe)}. All other classes stay monitored.`) : null,
      others.length ? line("All but these", `robots_guard enforce {\n\tonly_log ${rest}\n}`, `Logs ${plural(sum(others), "request", "requests")} of ${names(others)}, and blocks all else. Look at their rules below before you block them, too.`) : null));
}

const line = (name, text, note) => h("div", { key: name }, h("dt", {}, name), h("dd", {}, command(text, `the line: ${name}`), h("p", { class: "quiet" }, note)));

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
  const sure = search.crawlers.every((c) => !c.identities.claimed && !c.identities.unknown);
  return h("section", { class: "panel bad", key: "search" }, h("h2", {}, `${plural(search.blockable, "request", "requests")} ${sure ? "of" : "in the name of"} search engines ${search.blockable === 1 ? "is" : "are"} affected`),
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
