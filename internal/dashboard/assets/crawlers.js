// The view Crawlers.

import { sparkline } from "./chart.js";
import { detail } from "./detail.js";
import { h } from "./dom.js";
import { afterFetch, count, crawlerName, inPeriod, percent, period, plural, rate, shortVersion, when } from "./format.js";
import { actionBadge, badge, clientNames, downloads, empty, exampleURL, filtered, identitySplit, impostors, operatorAndClass, panel, section, topPage, trend, violationCount } from "./parts.js";
import { go, href } from "./state.js";
import { table } from "./table.js";

export const title = "Crawlers";

const pageSize = 100;

export const urls = (url, state) => ({
  crawlers: url("crawlers.json", { limit: state.sort && state.sort !== order ? most : shown(state) }), // a different order needs all rows
  detail: state.open ? url("crawler.json", { id: state.open }) : undefined,
});

const order = "-against"; // the server's order

// most is the server's maximum number of rows.
export const most = 1000;

// shown returns the number of rows to show.
export const shown = (state) => Math.min(most, Math.max(pageSize, Number(state.rows) || 0));

export function render(state, data, redraw) {
  const list = data.crawlers;
  let drawn = false; // whether the open crawler is among the shown rows
  const opened = () => {
    drawn = true;
    return detail(state, data, redraw);
  };
  const listed = list.crawlers.length ? [rows(state, data, opened), more(state, list.total)] : nothing(state, list);
  const missing = state.open && data.detail && !drawn ? detail(state, data, redraw) : null;
  return [
    h("h1", {}, "Crawlers"),
    missing ? panel("missing", crawlerName(data.detail.crawler.token, data.detail.crawler.class, data.detail.crawler.names), h("a", { href: href(state, { open: "" }) }, "Close"), missing) : null,
    list.against?.length ? section("Preferences about use", null, preferences(list)) : null,
    section(list.total ? plural(list.total, "crawler", "crawlers") + `, ${period(list)}` : "Crawlers", downloads(state, "crawlers", { limit: most }),
      listed),
  ];
}

// classPlural names the crawlers of a class.
const classPlural = { ai_training: "AI training crawlers", ai_search: "AI search crawlers", ai_assistant: "AI assistants", search: "Search engines" };

// preferences shows the requests for pages with a preference against that use.
const preferences = (list) => [
  list.against.map((a) => h("p", {}, `${classPlural[a.class]} sent `, h("b", {}, plural(a.requests, "request", "requests")), " for pages with the preference ", h("code", {}, a.stated), ". They had fetched that robots.txt before: ", h("b", {}, afterFetch(a)), ".")),
  h("p", { class: "quiet" }, "A preference disallows no requests, so these requests are no violations. The guard cannot see how a crawler uses a page."),
];

function rows(state, data, opened) {
  return table([
    { id: "name", title: "Crawler", className: "name", value: (c) => c.token, cell: (c) => name(state, c) },
    { id: "identity", title: "Identity", className: "identities", value: (c) => c.identities.spoofed * 1e9 + c.identities.verified, latest: true, cell: (c) => [identitySplit(c.identities), impostors(state, c)] },
    { id: "requests", title: "Requests", number: true, value: (c) => c.requests, cell: (c) => [count(c.requests), h("div", { class: "quiet" }, trend(c.requests, c.previous?.requests))] },
    { id: "against", title: "Violations", className: "violations", number: true, value: (c) => c.disallowed, cell: (c) => [violationCount(c.disallowed), h("div", { class: "quiet" }, trend(c.disallowed, c.previous?.disallowed))] },
    { id: "kept", title: "Compliance", className: "compliance", number: true, value: (c) => c.compliance ?? -1, cell: (c) => percent(c.compliance) },
    { id: "page", title: "Top page", className: "page", value: (c) => c.top_path?.path ?? "", cell: (c) => topPage(c) },
    { id: "first", title: "First seen", className: "seen", value: (c) => c.first_seen, latest: true, cell: (c) => [when(c.first_seen), h("div", { class: "quiet" }, "last ", when(c.last_seen))] },
    { id: "read", title: "Robots fetch", className: "fetch", value: (c) => c.read?.at ?? "", latest: true, cell: (c) => robotsFetch(c) },
    { id: "rate", title: "Rate now", className: "pace", number: true, value: (c) => c.rate.per_minute, cell: (c) => [pace(c.rate), c.slowed ? h("div", { class: "quiet", title: "requests refused with 429" }, `${count(c.slowed)} slowed`) : null] },
    { id: "action", title: "Action", className: "action", value: (c) => c.action, cell: (c) => actionBadge(c.action) },
    { id: "trend", title: "Over time", className: "trend", cell: (c) => sparkline(data.crawlers, c.sparkline) },
  ], data.crawlers.crawlers, {
    caption: "Crawlers", class: "broad lines", state, name: "sort", order, most: shown(state), id: (c) => c.id,
    more: (c) => (c.id === state.open ? opened() : null),
  });
}

// causes name the actions of people that cause the requests of some classes.
const causes = { ai_assistant: "a person asked", preview: "a person shared a link", feed: "a person subscribed" };

// name is the button that opens the details of a crawler.
function name(state, c) {
  const open = c.id === state.open;
  return [
    h("button", { type: "button", class: "opener", "aria-expanded": String(open), click: () => go(state, { open: open ? "" : c.id }) },
      h("span", { class: "chevron", "aria-hidden": "true" }), h("span", {}, crawlerName(c.token, c.class, c.names))),
    h("div", { class: "quiet under" }, operatorAndClass(c), c.user_triggered && causes[c.class] ? ` · ${causes[c.class]}` : null),
    clientNames(c),
  ];
}

// robotsFetch shows the crawler's last fetch of robots.txt.
function robotsFetch(c) {
  const r = c.read;
  if (!r) return [h("span", {}, "never"), h("div", { class: "quiet" }, `in ${plural(c.since_read, "request", "requests")}`)];
  const version = r.current ? "current version" : r.version ? `earlier: ${shortVersion(r.version)}` : r.status >= 400 ? `status ${r.status}` : "version not seen";
  return [when(r.at), h("div", { class: "quiet" }, version), h("div", { class: "quiet" }, `${plural(c.since_read, "request", "requests")} since`)];
}

// pace shows the request rate of a crawler and its Crawl-delay.
const pace = (r) => [h("span", { class: "nowrap", title: `last 24 hours: ${rate(r.per_minute_day)}; peak of the last 6 hours: ${count(r.peak)} / min` }, rate(r.per_minute)),
  r.crawl_delay ? h("div", { class: "quiet", title: `Crawl-delay: ${r.crawl_delay} in line ${r.crawl_delay_line}` }, `limit ${rate(60 / r.crawl_delay)}`) : null,
  r.crawl_delay ? h("div", { class: "quiet" }, habits[r.crawl_delay_habit]) : null,
  r.exceeds ? badge("severity warning", "too fast") : null];

// habits describe the operator's documented behavior about Crawl-delay.
const habits = { obeys: "obeys Crawl-delay", ignores: "ignores Crawl-delay", undocumented: "support not documented" };

// more returns the button for more rows, or null.
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
    "This table lists the crawlers with their violations, request rates and fetches of robots.txt. To send a request as a crawler:",
    `curl -A "GPTBot/1.3" ${exampleURL(list)}/`);

