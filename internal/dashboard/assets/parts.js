// Elements that several views share.

import { h } from "./dom.js";
import { className, count, crawlerName, elapsed, identities, identityName, plural, shortVersion, siteName, stamp, verdictName, verdicts, when } from "./format.js";
import { dataURL, href } from "./state.js";

export const badge = (kind, text, title) => h("span", { class: `badge ${kind}`, title }, text);

export const identityBadge = (identity, n) =>
  badge(`identity ${identity}`, n === undefined ? identityName(identity) : `${identityName(identity)} ${count(n)}`, identities[identity] ?? identity);

// identitySplit shows the identities of the clients with a name.
export function identitySplit(split) {
  const present = ["verified", "claimed", "unknown", "spoofed"].filter((name) => split[name] > 0);
  return h("span", { class: "badges" }, present.map((name) => identityBadge(name, present.length > 1 ? split[name] : undefined)));
}

export const verdictBadge = (verdict) => badge(`verdict ${verdict}`, verdictName(verdict), verdicts[verdict] ?? verdict);

export const modeBadge = (mode) =>
  mode ? badge(`mode ${mode}`, mode) : h("span", { class: "quiet", title: "no crawler request since the configuration was loaded" }, "no request yet");

export const actionBadge = (action) => (action === "none" ? h("span", { class: "quiet" }, "none") : badge(`action ${action}`, action));

// counted shows a count of a bounded sketch with its uncertainty.
export const counted = (e) =>
  e.error ? h("span", { title: `at least ${count(e.count - e.error)}, at most ${count(e.count)}` }, `≤ ${count(e.count)}`) : count(e.count);

// violationCount shows a number of violations.
export const violationCount = (n) => h("span", { class: n ? "against" : "quiet" }, count(n));

// trend shows the change of a number from the previous period, or null if that period was not
// counted.
export function trend(now, before, shown = count) {
  if (before === undefined || before === null || now + before === 0) return null;
  const text = before === 0 ? "new" : now >= 10 * before ? `×${count(now / before)}` : `${now < before ? "−" : "+"}${count((100 * Math.abs(now - before)) / before)} %`;
  return h("span", { class: "trend", title: `${shown(before)} in the previous period` }, text, h("span", { class: "unseen" }, `, ${shown(before)} in the previous period`));
}

// previous shows the number of the previous period, or null.
export const previous = (now, before, shown = count) =>
  before === undefined || before === null ? null : h("span", { class: "trend", title: "in the previous period" }, `before: ${shown(before)}`, now + before && shown === count ? [" ", trend(now, before)] : null);

// rule shows a rule with a link to its line in that version of the robots.txt.
export const rule = (state, r) => [h("code", {}, r.rule || "no rule"), " ", r.line ? lineLink(state, r) : null];

export const lineLink = (state, r) => h("a", {
  class: "tolines", title: r.version ? `in version ${shortVersion(r.version)} of robots.txt` : undefined,
  href: href(state, { view: "robots", site: r.site, version: r.version, line: String(r.line) }),
}, `line ${r.line}`);

// changeLink returns the link to the details of a change.
export const changeLink = (state, m) => href(state, m.kind === "mode" ? { view: "impact", site: m.site } : { view: "robots", site: m.site, version: m.to });

// hostOf returns the requested host, or the name of the site.
export const hostOf = (r) => r.host || siteName(r.site);

export const crawlerLink = (state, c, more = {}) =>
  h("a", { href: href(state, { view: "crawlers", open: c.id ?? c.token, ...more }) }, crawlerName(c.token, c.class, c.names));

// isShared reports whether a token stands for several clients. rowID returns the ID of the crawler
// with a token and a class.
export const isShared = (token) => token.startsWith("_");
export const rowID = (token, kind) => (isShared(token) ? `${token}:${kind}` : token);

// quotedToken quotes a token for a Caddyfile.
export const quotedToken = (token) => (/\s/.test(token) ? `"${token}"` : token);

// client links to the client of a violation. A client with a shared token has its own name.
export const client = (state, v) => h("a", { href: href(state, { view: "crawlers", open: rowID(v.token, v.class) }) },
  !v.name ? crawlerName(v.token, v.class) : v.token === "_spoofed" ? `false name ${v.name}` : v.name);

// operatorAndClass describes a crawler.
export const operatorAndClass = (c) => [c.operator, className(c.class)].filter(Boolean).join(" · ");

// withEarlier says that a number is not limited to the selected time.
export const withEarlier = "The numbers include requests before the selected time.";

// clientNames lists the names of clients with a shared token, most frequent first.
export const clientNames = (c) => (c.names?.length && (c.token === "_spoofed" || c.names.length > 1)
  ? h("div", { class: "quiet under names", title: withEarlier }, c.names.slice(0, 4).map((n, i) => [i ? ", " : "", h("span", { class: "nowrap" }, `${n.name} `, counted(n))]), c.names.length > 4 ? ` and ${count(c.names.length - 4)} more` : "") : null);

// impostors links to the spoofed clients with a crawler's name.
export const impostors = (state, c) => (c.impostors ? h("div", { class: "quiet" }, h("a", { href: href(state, { view: "crawlers", open: "_spoofed:other", class: "", identity: "" }), title: `Requests of spoofed clients with its name. ${withEarlier}` }, `and ${count(c.impostors)} spoofed`)) : null);

// topPage shows the path with the most violations.
export const topPage = (c) => (c.top_path?.path ? [h("code", { class: "path", title: c.top_path.path }, c.top_path.path), h("div", { class: "quiet" }, hostOf(c.top_path))] : h("span", { class: "quiet" }, "–"));

// safeURL returns http, https and mailto URLs. For others, such as javascript:, it returns undefined.
export const safeURL = (url) => (/^(https?:\/\/|mailto:)/.test(url) ? url : undefined);

// section is a panel whose heading is its key. panel has a key, so that its heading can change.
export const section = (title, aside, ...children) => panel(title, title, aside, ...children);

export const panel = (key, title, aside, ...children) =>
  h("section", { class: "panel", key }, h("div", { class: "panelhead" }, h("h2", {}, title), aside), children);

// downloads links to the data of a view.
export const downloads = (state, name, more = {}) => h("p", { class: "downloads" }, "Download ",
  h("a", { href: dataURL(`${name}.csv`, state, more), download: "" }, "CSV"), " ",
  h("a", { href: dataURL(`${name}.json`, state, more), download: "" }, "JSON"));

// command shows text with a button to copy it.
export function command(text, name) {
  return h("div", { class: "command" }, h("code", {}, text),
    h("button", { type: "button", class: "copy", "aria-label": name ? `Copy ${name}` : undefined, click: (event) => copy(text, event.currentTarget) }, "Copy"));
}

async function copy(text, button) {
  let done = "Copied";
  try {
    await navigator.clipboard.writeText(text);
  } catch { // no permission, or no secure context: select the text
    getSelection().selectAllChildren(button.previousSibling);
    done = "Selected";
  }
  button.textContent = done;
  document.getElementById("said").textContent = done;
}

// The URLs of sites, from the responses so far.
const origins = new Map();

export function rememberOrigins(data) {
  for (const s of data.sites_now ?? []) if (s.robots.source === "server" && s.robots.authority) origins.set(s.site, s.robots.authority);
}

// origin returns the URL of a host of a site, without a path.
export const origin = (site, host = site) => {
  const known = origins.get(site);
  if (host !== site) return `${known?.split(":", 1)[0] ?? "https"}://${host}`;
  return known ?? (site === location.hostname ? location.origin : `https://${site}`);
};

// exampleURL returns the URL of a site for an example command: the selected site, or the first
// with a name.
export function exampleURL(head) {
  const named = (name) => name && name !== "_other" && !name.includes("*");
  const site = [head?.filter?.site, ...(head?.sites ?? [])].find(named);
  return site ? origin(site) : location.origin;
}

// empty explains why a view is empty. line is an example command.
export const empty = (title, text, line) =>
  h("div", { class: "empty" }, h("p", { class: "emptytitle" }, title), h("p", {}, text), line ? command(line) : null);

export const filtered = (state) => Boolean(state.site || state.class || state.identity);

// inLogs shows the word of logs and JSON if the page has a different one.
const inLogs = (word, shown) => (shown(word) === word ? null : h("span", { class: "quiet" }, " (in logs and JSON: ", h("code", {}, word), ")"));

// glossary explains the terms of the page.
export const glossary = () => h("details", { class: "words", key: "words" }, h("summary", {}, "Glossary"),
  h("div", { class: "wordlists" },
    h("div", {}, h("h3", {}, "Identity"), h("dl", {}, Object.entries(identities).map(([name, meaning]) => [h("dt", {}, identityBadge(name)), h("dd", {}, meaning, inLogs(name, identityName))]))),
    h("div", {}, h("h3", {}, "Verdict"), h("dl", {}, Object.entries(verdicts).map(([name, meaning]) => [h("dt", {}, verdictBadge(name)), h("dd", {}, meaning, inLogs(name, verdictName))]))),
    h("p", { class: "quiet" }, "The name of a crawler is the name in the User-Agent. Any client can send any User-Agent; only the identity verified is proof of the sender.")));

// hasManyHosts reports whether a site stands for several hosts, each with its own robots.txt.
export const hasManyHosts = (site) => site === "_other" || site.includes("*");

// health shows the state of a site's robots.txt. hasCard shortens it if a To do card has the
// details.
export function health(site, r, hasCard) {
  const read = r.last_read ? ["fetched ", when(r.last_read)] : null;
  const failing = r.failing_since ? [", failing for ", h("time", { datetime: r.failing_since, title: stamp(r.failing_since) }, elapsed(r.failing_since))] : null;
  const no = r.not_protecting; // the file disallows nothing
  if (no) return state("warn", "not protecting", hasCard ? seeAbove : [`${no.detail}; ${no.cure}`, failing ? [" (", r.error || "fetch failed", failing, ")"] : null]);
  switch (r.state) {
    case "ok": return state("good", "OK", [read, `, ${plural(r.rules, "rule", "rules")}`]);
    case "missing": return state("good", "none", [`status ${r.status}, so nothing is disallowed; `, read]);
    case "last_good": return state("warn", "using a copy", hasCard ? seeAbove : ["fetch failed", r.error ? ` (${r.error})` : "", failing, "; the copy was ", read]);
    case "unreachable": return state("bad", "unreachable", hasCard ? seeAbove : [r.error || "fetch failed", failing]);
  }
  return hasManyHosts(site) ? state("none", "one for each host", "not shown here") : state("none", "not fetched yet", "no crawler request since the start");
}

const seeAbove = "see above";

const state = (kind, word, text) => h("span", { class: `health ${kind}` }, h("span", { class: "dot", "aria-hidden": "true" }), h("b", {}, word), h("span", { class: "quiet" }, text));

// findings shows the numbers of findings.
export function findings(f) {
  const badges = [];
  if (f.errors) badges.push(badge("severity error", plural(f.errors, "error", "errors")));
  if (f.warnings) badges.push(badge("severity warning", plural(f.warnings, "warning", "warnings")));
  if (f.infos) badges.push(badge("severity info", plural(f.infos, "note", "notes")));
  return badges.length ? h("span", { class: "badges" }, badges) : h("span", { class: "quiet" }, "none");
}
