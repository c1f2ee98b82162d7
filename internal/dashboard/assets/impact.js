// The view Impact: the effect of enforce.

import { h } from "./dom.js";
import { className, count, inPeriod, period, plural, share, siteName } from "./format.js";
import { command, crawlerLink, downloads, empty, exampleURL, filtered, identitySplit, lineLink, modeBadge, panel, previous, section } from "./parts.js";

export const title = "Impact";

export const urls = (url) => ({ impact: url("impact.json") });

export function render(state, { impact: i }) {
  const search = i.by_class.find((c) => c.class === "search");
  return [
    h("h1", {}, "Impact of enforce"),
    h("p", { class: "lead" }, sentence(i), " ", previous(i.blockable, i.previous && i.previous.blocked + i.previous.would_block)),
    i.requests === 0 ? section("By class", null, nothing(state, i)) : [
      searchPanel(state, search),
      nextStep(i),
      section(`By class, ${period(i)}`, downloads(state, "impact"), classes(state, i)),
    ],
    section("Modes", null, i.modes.length ? h("ul", { class: "modes" }, i.modes.map((m) => h("li", { key: m.site }, siteName(m.site), " ", modeBadge(m.mode)))) : h("p", { class: "quiet" }, "No site yet.")),
  ];
}

// valued are the classes whose blocking can cost visitors, a preview, a feed or a warning.
const valued = ["search", "ai_search", "ai_assistant", "preview", "feed", "ads", "monitor", "service", "security"];

// nextStep shows lines for the Caddyfile, or null if all sites are in enforce.
function nextStep(i) {
  const monitored = i.modes.filter((m) => m.mode !== "enforce").map((m) => siteName(m.site));
  if (!monitored.length) return null;
  const affected = i.by_class.filter((c) => c.would_block);
  const safe = affected.filter((c) => !valued.includes(c.class));
  const others = affected.filter((c) => valued.includes(c.class));
  const sum = (list) => list.reduce((total, c) => total + c.would_block, 0);
  const names = (list) => list.map((c) => className(c.class)).join(", ");
  const rest = others.map((c) => c.class).join(" ");
  return panel("next", "Next step", h("p", {}, "In the Caddyfile, replace ", h("code", {}, "robots_guard"), ` of ${monitored.slice(0, 3).join(", ")}${monitored.length > 3 ? " and other sites" : ""} and reload.`),
    h("dl", { class: "nextlines" },
      !others.length ? line("Block all violations", "robots_guard enforce", affected.length ? `Would have blocked ${plural(sum(affected), "request", "requests")}: ${names(affected)}. None was from a search engine, link preview, feed reader or monitor.` : "Would have blocked nothing in this time. Select a longer time.") : null,
      others.length && safe.length ? line("Block some classes", `robots_guard enforce ${safe.map((c) => c.class).join(" ")}`, `Would have blocked ${plural(sum(safe), "request", "requests")}: ${names(safe)}. All other classes stay in monitor.`) : null,
      others.length ? line("Block all but some classes", `robots_guard enforce {\n\tonly_log ${rest}\n}`, `Would have logged ${plural(sum(others), "request", "requests")} from these classes and blocked all other violations: ${names(others)}. Check their rules below before you block them.`) : null));
}

const line = (name, text, note) => h("div", { key: name }, h("dt", {}, name), h("dd", {}, command(text, `the line: ${name}`), h("p", { class: "quiet" }, note)));

function sentence(i) {
  const span = inPeriod(i);
  if (!i.blockable) return i.requests ? `In ${span}, enforce would have blocked nothing.` : `No requests in ${span}.`;
  return [`Of ${plural(i.requests, "request", "requests")} in ${span}, enforce affects `, h("b", {}, count(i.blockable)), ` (${share(i.blockable, i.requests)}): `,
    h("b", {}, count(i.blocked)), ` ${i.blocked === 1 ? "was" : "were"} blocked, `, h("b", {}, count(i.would_block)), " more would have been blocked."];
}

function searchPanel(state, search) {
  const spoofed = search?.crawlers.reduce((sum, c) => sum + c.identities.spoofed, 0);
  const spoofedNote = spoofed ? h("p", {}, `${plural(spoofed, "request", "requests")} with such a name ${spoofed === 1 ? "is" : "are"} spoofed.`) : null;
  if (!search) return h("section", { class: "panel calm", key: "search" }, h("h2", {}, "Search engines"), h("p", {}, "No requests in this time. Select a longer time."));
  if (!search.blockable) {
    return h("section", { class: "panel good", key: "search" }, h("h2", {}, "Search engines are not affected"),
      h("p", {}, `All ${plural(search.requests, "request", "requests")} from ${plural(search.crawlers.length, "search engine", "search engines")} would pass.`), spoofedNote);
  }
  const allChecked = search.crawlers.every((c) => !c.identities.claimed && !c.identities.unknown);
  return h("section", { class: "panel bad", key: "search" }, h("h2", {}, `${plural(search.blockable, "request", "requests")} ${allChecked ? "from" : "with the name of"} search engines ${search.blockable === 1 ? "is" : "are"} affected`),
    h("p", {}, "Check their rules before you enforce. A search engine may drop pages that it cannot fetch."), spoofedNote);
}

function classes(state, i) {
  const heads = [["Class and crawler"], ["Identity"], ["Requests", true], ["Allowed", true], ["Exceptions", true], ["Would be blocked", true], ["Blocked", true], ["Rules"]];
  return h("table", { class: "table impact", role: "table" }, h("caption", { class: "unseen" }, "Effect of enforce by class and crawler"),
    h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, heads.map(([name, number]) => h("th", { role: "columnheader", scope: "col", class: `unsorted${number ? " number" : ""}` }, name)))),
    i.by_class.map((c) => h("tbody", { key: c.class, role: "rowgroup" },
      h("tr", { class: "group", role: "row" }, h("th", { role: "rowheader", scope: "row" }, h("div", { class: "cell" }, className(c.class))), cell(heads[1][0], ""), numbers(heads, c), cell(heads[7][0], "")),
      c.crawlers.map((k) => h("tr", { key: k.id, role: "row" },
        h("th", { role: "rowheader", scope: "row", class: "sub" }, h("div", { class: "cell" }, crawlerLink(state, { ...k, class: c.class }), h("span", { class: "quiet" }, k.operator ? ` ${k.operator}` : ""))),
        cell(heads[1][0], identitySplit(k.identities)), numbers(heads, k),
        cell(heads[7][0], k.rules.length ? h("ul", { class: "rules" }, k.rules.map((r) => h("li", {}, h("code", {}, r.rule), " ", lineLink(state, r), h("span", { class: "quiet" }, ` ${siteName(r.site)}`)))) : h("span", { class: "quiet" }, "none")))))));
}

const cell = (name, content, number) => h("td", { role: "cell", class: number ? "number" : undefined }, h("span", { class: "cellname", "aria-hidden": "true" }, name), h("div", { class: "cell" }, content));

// Exceptions are requests that enforce does not block although they are not allowed: stale, exempt
// and unknown requests, and violations with only_log. allowed excludes requests that are blocked for
// their false name.
const numbers = (heads, c) => [
  cell(heads[2][0], count(c.requests), true), cell(heads[3][0], count(allowed(c)), true), cell(heads[4][0], count(c.requests - allowed(c) - c.blockable), true),
  cell(heads[5][0], h("span", { class: c.would_block ? "against" : "quiet" }, count(c.would_block)), true), cell(heads[6][0], h("span", { class: c.blocked ? "" : "quiet" }, count(c.blocked)), true),
];

const allowed = (c) => Math.min(c.allowed, c.requests - c.blockable);

const nothing = (state, i) => filtered(state)
  ? empty("Nothing matches", `No request in ${inPeriod(i)} matches these filters.`)
  : empty("No crawler yet", "This view shows which requests of crawlers enforce would block, search engines first. To send a request as a crawler:", `curl -A "bingbot/2.0" ${exampleURL(i)}/private/`);
