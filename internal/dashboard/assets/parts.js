// Small parts that several views share.

import { h } from "./dom.js";
import { className, count, crawlerName, elapsed, identities, plural, shortVersion, siteName, stamp, verdictName, verdicts, when } from "./format.js";
import { dataURL, href } from "./state.js";

export const badge = (kind, text, title) => h("span", { class: `badge ${kind}`, title }, text);

export const identityBadge = (identity, n) =>
  badge(`identity ${identity}`, n === undefined ? identity : `${identity} ${count(n)}`, `${identity}: ${identities[identity] ?? ""}`);

// identitySplit shows who is behind a name, as far as it is known.
export function identitySplit(split) {
  const seen = ["verified", "claimed", "unknown", "spoofed"].filter((name) => split[name] > 0);
  return h("span", { class: "badges" }, seen.map((name) => identityBadge(name, seen.length > 1 ? split[name] : undefined)));
}

export const verdictBadge = (verdict) => badge(`verdict ${verdict}`, verdictName(verdict), `${verdict}: ${verdicts[verdict] ?? ""}`);

export const modeBadge = (mode) =>
  mode ? badge(`mode ${mode}`, mode) : h("span", { class: "quiet", title: "no crawler has asked since the configuration was loaded" }, "not asked yet");

export const actionBadge = (action) => (action === "none" ? h("span", { class: "quiet" }, "none") : badge(`action ${action}`, action));

export const classBadge = (name) => h("span", { class: "class" }, className(name));

// counted shows a number of a bounded sketch and how sure it is.
export const counted = (e) =>
  e.error ? h("span", { title: `at least ${count(e.count - e.error)}, at most ${count(e.count)}` }, `≤ ${count(e.count)}`) : count(e.count);

// outside shows a number of requests outside robots.txt.
export const outside = (n) => h("span", { class: n ? "outside" : "quiet" }, count(n));

// rule shows a rule with its line and version.
export const rule = (text, line, version) => [
  h("code", {}, text || "no rule"), " ",
  line ? h("span", { class: "quiet nowrap" }, `line ${line}${version ? `, version ${shortVersion(version)}` : ""}`) : null,
];

export const crawlerLink = (state, c, more = {}) =>
  h("a", { href: href(state, { view: "crawlers", open: c.id ?? c.token, ...more }) }, crawlerName(c.token, c.class));

// section is a part of a view under a heading.
export const section = (title, aside, ...children) =>
  h("section", { class: "panel", key: title }, h("div", { class: "panelhead" }, h("h2", {}, title), aside), children);

// downloads are links to the data of a view.
export const downloads = (state, name, more = {}) => h("p", { class: "downloads" }, "Download ",
  h("a", { href: dataURL(`${name}.csv`, state, more), download: "" }, "CSV"), " ",
  h("a", { href: dataURL(`${name}.json`, state, more), download: "" }, "JSON"));

// command is a line for a shell, with a button that copies it.
export function command(text) {
  return h("div", { class: "command" }, h("code", {}, text),
    h("button", { type: "button", class: "copy", click: (event) => copy(text, event.currentTarget) }, "Copy"));
}

async function copy(text, button) {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch { // no permission, or no secure context: leave it selected
    getSelection().selectAllChildren(button.previousSibling);
    button.textContent = "Selected";
  }
}

// base returns a URL of a guarded site to try a command on.
export function base(head) {
  const site = (head?.sites ?? []).find((name) => name !== "_other" && !name.includes("*"));
  if (!site || site === location.hostname) return location.origin;
  return `https://${site}`;
}

// empty explains why there is nothing to see and how that changes.
export const empty = (title, text, line) =>
  h("div", { class: "empty" }, h("p", { class: "emptytitle" }, title), h("p", {}, text), line ? command(line) : null);

export const filtered = (state) => Boolean(state.site || state.class || state.identity);

// words explains the terms of the page.
export const words = () => h("details", { class: "words", key: "words" }, h("summary", {}, "What the words mean"),
  h("div", { class: "wordlists" },
    h("div", {}, h("h3", {}, "Identity"), h("dl", {}, Object.entries(identities).map(([name, meaning]) => [h("dt", {}, identityBadge(name)), h("dd", {}, meaning)]))),
    h("div", {}, h("h3", {}, "Verdict"), h("dl", {}, Object.entries(verdicts).map(([name, meaning]) => [h("dt", {}, verdictBadge(name)), h("dd", {}, name === "disallowed" ? "its group forbids it" : meaning)]))),
    h("p", { class: "quiet" }, "A crawler's name is what its User-Agent says. Numbers under a name are requests that used it, not proof of who sent them.")));

// health tells in words how it is about a robots.txt.
export function health(r) {
  const read = r.last_read ? ["read ", when(r.last_read)] : null;
  const failing = r.failing_since ? [", failing for ", h("time", { datetime: r.failing_since, title: stamp(r.failing_since) }, elapsed(r.failing_since))] : null;
  switch (r.state) {
    case "ok": return state("good", "OK", [read, `, ${plural(r.rules, "rule", "rules")}`]);
    case "missing": return state("good", "none", [`status ${r.status}, so nothing is restricted; `, read]);
    case "last_good": return state("warn", "using a copy", ["it cannot be read", r.error ? ` (${r.error})` : "", failing, "; the copy was ", read]);
    case "unreachable": return state("bad", "unreachable", [r.error || "it cannot be read", failing]);
  }
  return state("none", "not read yet", "no crawler has asked");
}

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
