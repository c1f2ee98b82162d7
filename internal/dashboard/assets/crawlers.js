// Crawlers: who asks, and how they keep to robots.txt.

import { sparkline } from "./chart.js";
import { detail } from "./detail.js";
import { h } from "./dom.js";
import { count, crawlerName, inPeriod, knew, percent, period, plural, rate, shortVersion, when } from "./format.js";
import { about, actionBadge, against, badge, base, calledNames, downloads, empty, filtered, identitySplit, impostors, panel, section, topPage, trend } from "./parts.js";
import { go, href } from "./state.js";
import { table } from "./table.js";

export const title = "Crawlers";

const pageSize = 100;

export const urls = (url, state) => ({
  crawlers: url("crawlers.json", { limit: state.sort && state.sort !== order ? most : shown(state) }), // another order is one of all rows
  detail: state.open ? url("crawler.json", { id: state.open }) : undefined,
});

const order = "-against"; // that of the server

// most is how many rows the server gives at once.
export const most = 1000;

// shown is how many rows of a list are shown.
export const shown = (state) => Math.min(most, Math.max(pageSize, Number(state.rows) || 0));

export function render(state, data, redraw) {
  const list = data.crawlers;
  let drawn = false; // the open crawler may be among the rows that are not
  const opened = () => {
    drawn = true;
    return detail(state, data, redraw);
  };
  const listed = list.crawlers.length ? [rows(state, data, opened), more(state, list.total)] : nothing(state, list);
  const missing = state.open && data.detail && !drawn ? detail(state, data, redraw) : null;
  return [
    h("h1", {}, "Crawlers"),
    missing ? panel("missing", crawlerName(data.detail.crawler.token, data.detail.crawler.class, data.detail.crawler.names), h("a", { href: href(state, { open: "" }) }, "Close"), missing) : null,
    list.against?.length ? section("Stated about use", null, preferences(list)) : null,
    section(list.total ? plural(list.total, "crawler", "crawlers") + `, ${period(list)}` : "Crawlers", downloads(state, "crawlers", { limit: most }),
      listed),
  ];
}

// fetchers say what crawlers of a class fetch for.
const fetchers = { ai_training: "Crawlers that train models", ai_search: "Crawlers that search for models", ai_assistant: "Assistants that answer with a model", search: "Search engines" };

// preferences tells what was asked for although its use is not wanted.
const preferences = (list) => [
  list.against.map((a) => h("p", {}, `${fetchers[a.class]} asked for `, h("b", {}, plural(a.requests, "page", "pages")), " of which the robots.txt states ", h("code", {}, a.stated), "; they had read it: ", h("b", {}, knew(a)), ".")),
  h("p", { class: "quiet" }, "A preference about use does not block fetching, so these requests are not violations. The guard does not see how a crawler uses a page."),
];

function rows(state, data, opened) {
  return table([
    { id: "name", title: "Crawler", className: "name", value: (c) => c.token, cell: (c) => name(state, c) },
    { id: "identity", title: "Identity", className: "who", value: (c) => c.identities.spoofed * 1e9 + c.identities.verified, latest: true, cell: (c) => [identitySplit(c.identities), impostors(state, c)] },
    { id: "requests", title: "Requests", className: "asked", number: true, value: (c) => c.requests, cell: (c) => [count(c.requests), h("div", { class: "quiet" }, trend(c.requests, c.previous?.requests))] },
    { id: "against", title: "Against the rules", className: "broken", number: true, value: (c) => c.disallowed, cell: (c) => [against(c.disallowed), h("div", { class: "quiet" }, trend(c.disallowed, c.previous?.disallowed))] },
    { id: "kept", title: "Kept", className: "kept", number: true, value: (c) => c.compliance ?? -1, cell: (c) => percent(c.compliance) },
    { id: "page", title: "Top page", className: "page", value: (c) => c.top_path?.path ?? "", cell: (c) => topPage(c) },
    { id: "first", title: "First seen", className: "seen", value: (c) => c.first_seen, latest: true, cell: (c) => [when(c.first_seen), h("div", { class: "quiet" }, "last ", when(c.last_seen))] },
    { id: "read", title: "Read robots.txt", className: "reading", value: (c) => c.read?.at ?? "", latest: true, cell: (c) => reading(c) },
    { id: "rate", title: "Rate now", className: "pace", number: true, value: (c) => c.rate.per_minute, cell: (c) => [pace(c.rate), c.slowed ? h("div", { class: "quiet", title: "answered 429 since they came too early" }, `${count(c.slowed)} slowed`) : null] },
    { id: "action", title: "Action", className: "action", value: (c) => c.action, cell: (c) => actionBadge(c.action) },
    { id: "trend", title: "Over time", className: "trend", cell: (c) => sparkline(data.crawlers, c.sparkline) },
  ], data.crawlers.crawlers, {
    caption: "Crawlers", class: "broad lines", state, name: "sort", order, most: shown(state), id: (c) => c.id,
    more: (c) => (c.id === state.open ? opened() : null),
  });
}

// causes say what makes those fetch that do not on their own account.
const causes = { ai_assistant: "a person asked", preview: "a person shared a link", feed: "a person subscribed" };

// name is the button that opens a crawler.
function name(state, c) {
  const open = c.id === state.open;
  return [
    h("button", { type: "button", class: "opener", "aria-expanded": String(open), click: () => go(state, { open: open ? "" : c.id }) },
      h("span", { class: "chevron", "aria-hidden": "true" }), h("span", {}, crawlerName(c.token, c.class, c.names))),
    h("div", { class: "quiet under" }, about(c), c.user_triggered && causes[c.class] ? ` · ${causes[c.class]}` : null),
    calledNames(c),
  ];
}

// reading tells what a crawler knows of the rules.
export function reading(c) {
  const r = c.read;
  if (!r) return [h("span", {}, "not seen"), h("div", { class: "quiet" }, `in ${plural(c.since_read, "request", "requests")}`)];
  const version = r.current ? "current version" : r.version ? `earlier: ${shortVersion(r.version)}` : r.status >= 400 ? `status ${r.status}` : "version not seen";
  return [when(r.at), h("div", { class: "quiet" }, version), h("div", { class: "quiet" }, `${plural(c.since_read, "request", "requests")} since`)];
}

// pace tells how fast a crawler is, and how fast it is asked to be.
export const pace = (r) => [h("span", { class: "nowrap", title: `the day: ${rate(r.per_minute_day)}; the fullest minute of six hours: ${count(r.peak)}` }, rate(r.per_minute)),
  r.crawl_delay ? h("div", { class: "quiet", title: `Crawl-delay: ${r.crawl_delay} in line ${r.crawl_delay_line}` }, `asked: ${rate(60 / r.crawl_delay)}`) : null,
  r.crawl_delay ? h("div", { class: "quiet" }, habits[r.crawl_delay_habit]) : null,
  r.exceeds ? badge("severity warning", "faster") : null];

// habits tells what a crawler does with Crawl-delay, by its operator's word.
const habits = { obeys: "keeps it by its word", ignores: "does not read it", undocumented: "says nothing of it" };

// more leads to the rows of a list that are not shown yet.
export function more(state, total) {
  const left = total - shown(state);
  if (left <= 0) return null;
  if (shown(state) === most) return h("p", { class: "quiet" }, `${plural(left, "more is", "more are")} not shown; narrow the filters.`);
  return h("p", {}, h("button", { type: "button", class: "plainbutton", click: () => go(state, { rows: String(shown(state) + pageSize) }, true) },
    `Show more (${count(left)} left)`));
}

const nothing = (state, list) => filtered(state)
  ? empty("Nothing matches", `No crawler in ${inPeriod(list)} matches these filters.`)
  : empty(`No crawler in ${inPeriod(list)}`,
    "Each crawler that asks for a page gets a row: how many of its requests are against the rules, what it knows of the rules, and how fast it is. Be one yourself:",
    `curl -A "GPTBot/1.3" ${base(list)}/`);

