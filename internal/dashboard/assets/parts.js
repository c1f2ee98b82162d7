// Small parts that several views share.

import { h } from "./dom.js";
import { className, count, crawlerName, elapsed, identities, identityName, plural, shortVersion, siteName, stamp, verdictName, verdicts, when } from "./format.js";
import { dataURL, href } from "./state.js";

export const badge = (kind, text, title) => h("span", { class: `badge ${kind}`, title }, text);

export const identityBadge = (identity, n) =>
  badge(`identity ${identity}`, n === undefined ? identityName(identity) : `${identityName(identity)} ${count(n)}`, identities[identity] ?? identity);

// identitySplit shows who is behind a name, as far as it is known.
export function identitySplit(split) {
  const seen = ["verified", "claimed", "unknown", "spoofed"].filter((name) => split[name] > 0);
  return h("span", { class: "badges" }, seen.map((name) => identityBadge(name, seen.length > 1 ? split[name] : undefined)));
}

export const verdictBadge = (verdict) => badge(`verdict ${verdict}`, verdictName(verdict), verdicts[verdict] ?? verdict);

export const modeBadge = (mode) =>
  mode ? badge(`mode ${mode}`, mode) : h("span", { class: "quiet", title: "no crawler has asked since the configuration was loaded" }, "not asked yet");

export const actionBadge = (action) => (action === "none" ? h("span", { class: "quiet" }, "none") : badge(`action ${action}`, action));

export const classBadge = (name) => h("span", { class: "class" }, className(name));

// counted shows a number of a bounded sketch and how sure it is.
export const counted = (e) =>
  e.error ? h("span", { title: `at least ${count(e.count - e.error)}, at most ${count(e.count)}` }, `≤ ${count(e.count)}`) : count(e.count);

// against shows a number of requests against the rules.
export const against = (n) => h("span", { class: n ? "against" : "quiet" }, count(n));

// trend shows how a number differs from that of the period before, and that
// one, if it is known.
export function trend(now, before, shown = count) {
  if (before === undefined || before === null || now + before === 0) return null;
  const text = before === 0 ? "new" : now >= 10 * before ? `×${count(now / before)}` : `${now < before ? "−" : "+"}${count((100 * Math.abs(now - before)) / before)} %`;
  return h("span", { class: "trend", title: `${shown(before)} in the period before` }, text, h("span", { class: "unseen" }, `, ${shown(before)} in the period before`));
}

// was shows the number of the period before in full.
export const was = (now, before, shown = count) =>
  before === undefined || before === null ? null : h("span", { class: "trend", title: "in the period before" }, `before: ${shown(before)}`, now + before && shown === count ? [" ", trend(now, before)] : null);

// rule shows a rule; its line leads to the text of that version.
export const rule = (state, r) => [h("code", {}, r.rule || "no rule"), " ", r.line ? lineLink(state, r) : null];

export const lineLink = (state, r) => h("a", {
  class: "tolines", title: r.version ? `in version ${shortVersion(r.version)} of robots.txt` : undefined,
  href: href(state, { view: "robots", site: r.site, version: r.version, line: String(r.line) }),
}, `line ${r.line}`);

// changed is where more is said of a change.
export const changed = (state, m) => href(state, m.kind === "mode" ? { view: "impact", site: m.site } : { view: "robots", site: m.site, version: m.to });

// place is the host of a request: where a site stands for many, the one that was
// asked for.
export const place = (r) => r.host || siteName(r.site);

export const crawlerLink = (state, c, more = {}) =>
  h("a", { href: href(state, { view: "crawlers", open: c.id ?? c.token, ...more }) }, crawlerName(c.token, c.class, c.names));

// client is who asked for a page: one of those that share a row goes by its name.
export const client = (state, v) => h("a", { href: href(state, { view: "crawlers", open: v.token.startsWith("_") ? `${v.token}:${v.class}` : v.token }) },
  !v.name ? crawlerName(v.token, v.class) : v.token === "_spoofed" ? `false name ${v.name}` : v.name);

// about says who runs a crawler and what it is for.
export const about = (c) => [c.operator, className(c.class)].filter(Boolean).join(" · ");

// calledNames are the names of clients that share a row, the most frequent first.
export const calledNames = (c) => (c.names?.length && (c.token === "_spoofed" || c.names.length > 1)
  ? h("div", { class: "quiet under names" }, c.names.slice(0, 4).map((n, i) => [i ? ", " : "", h("span", { class: "nowrap" }, `${n.name} `, counted(n))]), c.names.length > 4 ? ` and ${count(c.names.length - 4)} more` : "") : null);

// impostors tells of requests under a name that were somebody else's.
export const impostors = (state, c) => (c.impostors ? h("div", { class: "quiet" }, h("a", { href: href(state, { view: "crawlers", open: "_spoofed:other", class: "", identity: "" }), title: "requests under its name that are known not to be its own" }, `${count(c.impostors)} under a false name`)) : null);

// topPage is where a crawler went against the rules most.
export const topPage = (c) => (c.top_path?.path ? [h("code", { class: "path", title: c.top_path.path }, c.top_path.path), h("div", { class: "quiet" }, place(c.top_path))] : h("span", { class: "quiet" }, "–"));

// safeURL keeps links to what a browser fetches, and mails: no javascript: or data:.
export const safeURL = (url) => (/^(https?:\/\/|mailto:)/.test(url) ? url : undefined);

// section is a part of a view under a heading. Its key tells it from others also
// when the heading changes.
export const section = (title, aside, ...children) => panel(title, title, aside, ...children);

export const panel = (key, title, aside, ...children) =>
  h("section", { class: "panel", key }, h("div", { class: "panelhead" }, h("h2", {}, title), aside), children);

// downloads are links to the data of a view.
export const downloads = (state, name, more = {}) => h("p", { class: "downloads" }, "Download ",
  h("a", { href: dataURL(`${name}.csv`, state, more), download: "" }, "CSV"), " ",
  h("a", { href: dataURL(`${name}.json`, state, more), download: "" }, "JSON"));

// command is a text to use elsewhere, with a button that copies it.
export function command(text, name) {
  return h("div", { class: "command" }, h("code", {}, text),
    h("button", { type: "button", class: "copy", "aria-label": name ? `Copy ${name}` : undefined, click: (event) => copy(text, event.currentTarget) }, "Copy"));
}

async function copy(text, button) {
  let done = "Copied";
  try {
    await navigator.clipboard.writeText(text);
  } catch { // no permission, or no secure context: leave it selected
    getSelection().selectAllChildren(button.previousSibling);
    done = "Selected";
  }
  button.textContent = done;
  document.getElementById("said").textContent = done;
}

// The URLs of the sites, as far as an answer told them.
const origins = new Map();

export function learn(data) {
  for (const s of data.sites_now ?? []) if (s.robots.source === "server" && s.robots.authority) origins.set(s.site, s.robots.authority);
}

// origin returns the URL of a host of a site, without a path.
export const origin = (site, host = site) => {
  const known = origins.get(site);
  if (host !== site) return `${known?.split(":", 1)[0] ?? "https"}://${host}`;
  return known ?? (site === location.hostname ? location.origin : `https://${site}`);
};

// base returns the URL of a site to try a command on: the one that is shown, or
// the first that has a name.
export function base(head) {
  const named = (name) => name && name !== "_other" && !name.includes("*");
  const site = [head?.filter?.site, ...(head?.sites ?? [])].find(named);
  return site ? origin(site) : location.origin;
}

// empty explains why there is nothing to see and how that changes.
export const empty = (title, text, line) =>
  h("div", { class: "empty" }, h("p", { class: "emptytitle" }, title), h("p", {}, text), line ? command(line) : null);

export const filtered = (state) => Boolean(state.site || state.class || state.identity);

// inLogs names the word of logs, labels and JSON where the page has another.
const inLogs = (word, shown) => (shown(word) === word ? null : h("span", { class: "quiet" }, " (in logs and JSON: ", h("code", {}, word), ")"));

// words explains the terms of the page.
export const words = () => h("details", { class: "words", key: "words" }, h("summary", {}, "What the words mean"),
  h("div", { class: "wordlists" },
    h("div", {}, h("h3", {}, "Identity"), h("dl", {}, Object.entries(identities).map(([name, meaning]) => [h("dt", {}, identityBadge(name)), h("dd", {}, meaning, inLogs(name, identityName))]))),
    h("div", {}, h("h3", {}, "Verdict"), h("dl", {}, Object.entries(verdicts).map(([name, meaning]) => [h("dt", {}, verdictBadge(name)), h("dd", {}, meaning, inLogs(name, verdictName))]))),
    h("p", { class: "quiet" }, "A crawler's name is what its User-Agent says. Numbers under a name are requests that used it, not proof of who sent them.")));

// several reports whether a site stands for hosts that have a file each.
export const several = (site) => site === "_other" || site.includes("*");

// health tells in words how it is about the robots.txt of a site, in short where more
// was told.
export function health(site, r, told) {
  const read = r.last_read ? ["read ", when(r.last_read)] : null;
  const failing = r.failing_since ? [", failing for ", h("time", { datetime: r.failing_since, title: stamp(r.failing_since) }, elapsed(r.failing_since))] : null;
  // Whatever was read, it restricts nobody.
  const no = r.not_protecting;
  if (no) return state("warn", "not protecting", told ? elsewhere : [`${no.detail}; ${no.cure}`, failing ? [" (", r.error || "it cannot be read", failing, ")"] : null]);
  switch (r.state) {
    case "ok": return state("good", "OK", [read, `, ${plural(r.rules, "rule", "rules")}`]);
    case "missing": return state("good", "none", [`status ${r.status}, so nothing is restricted; `, read]);
    case "last_good": return state("warn", "using a copy", told ? elsewhere : ["it cannot be read", r.error ? ` (${r.error})` : "", failing, "; the copy was ", read]);
    case "unreachable": return state("bad", "unreachable", told ? elsewhere : [r.error || "it cannot be read", failing]);
  }
  return several(site) ? state("none", "one for each host", "none of them is shown") : state("none", "not read yet", "no crawler has asked since the start");
}

const elsewhere = "see above";

const state = (kind, word, text) => h("span", { class: `health ${kind}` }, h("span", { class: "dot", "aria-hidden": "true" }), h("b", {}, word), h("span", { class: "quiet" }, text));

// findings are numbers of findings.
export function findings(f) {
  const parts = [];
  if (f.errors) parts.push(badge("severity error", plural(f.errors, "error", "errors")));
  if (f.warnings) parts.push(badge("severity warning", plural(f.warnings, "warning", "warnings")));
  if (f.infos) parts.push(badge("severity info", plural(f.infos, "note", "notes")));
  return parts.length ? h("span", { class: "badges" }, parts) : h("span", { class: "quiet" }, "none");
}

export { siteName };
