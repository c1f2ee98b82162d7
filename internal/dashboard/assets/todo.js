// To do: the alerts.

import { h } from "./dom.js";
import { count, plural, siteName, stamp, when } from "./format.js";
import { badge, command, crawlerLink, identityBadge, isShared, lineLink, quotedToken, rowID } from "./parts.js";
import { href } from "./state.js";

export const alertsURL = "api/alerts";

const maxCards = 5;

// On a narrow screen a closed card shows only its title.
const wide = matchMedia("(min-width: 561px)");

const urgencies = { critical: "act now", warning: "act today", info: "info" };

// IDs of alerts with an open form, and errors of requests by ID.
const openForms = new Set();
const failed = new Map();

// todo shows the alerts of the selected sites, and the blocked search engines without an alert. It
// returns null if the server has no alerts.
export function todo(state, list, blocked, redraw) {
  if (!list) return null;
  const selected = list.alerts.filter((a) => !state.site || !a.site || a.site === state.site);
  const [open, acknowledged, over] = ["open", "acknowledged", "over"].map((s) => selected.filter((a) => a.state === s));
  const can = !list.read_only;
  const engines = blocked.filter((b) => !hasAlert(list, ["search_blocked"], b.site, b.token));
  return h("section", { class: "panel todo", key: "todo", "aria-labelledby": "todo" },
    h("div", { class: "panelhead" }, h("h2", { id: "todo", tabindex: "-1" }, open.length || engines.length ? "To do" : "Nothing to do")),
    open.length || engines.length ? h("ul", { class: "cards" }, engines.length ? searchCard(state, engines) : null, open.slice(0, shown(engines)).map((a) => card(state, a, can, redraw))) : null,
    fold("more", `${count(open.length - shown(engines))} more`, open.slice(shown(engines)), (a) => [urgency(a), " ", title(state, a), ": ", a.detail]),
    fold("acknowledged", `${count(acknowledged.length)} acknowledged`, acknowledged, (a) => [title(state, a), acknowledgement(a.acknowledged), can ? [" ", undo(a)] : null, failure(a)]),
    fold("over", `${count(over.length)} over`, over, (a) => [title(state, a), h("span", { class: "quiet" }, ", ", when(a.since), " until ", when(a.until))]),
    open.length && !can ? h("p", { class: "quiet", key: "login" }, "To acknowledge alerts, log in.") : null,
    open.length && can && !list.kept ? h("p", { class: "quiet", key: "kept" }, "A restart deletes acknowledgements.") : null);
}

// shown returns the number of alerts with a card.
const shown = (engines) => (engines.length ? maxCards - 1 : maxCards);

// searchCard lists the blocked search engines.
function searchCard(state, engines) {
  const sum = (list) => list.reduce((total, b) => total + b.blocked, 0);
  const verified = engines.filter((b) => b.identity === "verified"), others = engines.filter((b) => b.identity !== "verified");
  const requests = (list, of) => (list.length ? [plural(sum(list), "request", "requests"), ` of ${of}`] : null);
  const names = [...new Set((verified.length ? verified : others).map((b) => (isShared(b.token) ? "search" : quotedToken(b.token))))].join(" ");
  return h("li", { class: `card ${verified.length ? "critical" : "warning"}`, key: "engines" },
    h("details", { open: wide.matches },
      h("summary", {}, h("span", { class: "cardtitle" }, verified.length ? "Search engines are blocked" : "Unverified search engines are blocked"), " ", urgency({ severity: verified.length ? "critical" : "warning" })),
      h("p", {}, "Blocked: ", requests(verified, "verified search engines"), verified.length && others.length ? " and " : null, requests(others, "unverified clients with the name of one"), ". Your pages may drop out of search results."),
      h("ul", {}, engines.map((b) => h("li", { key: `${b.site} ${b.token} ${b.identity}` },
        crawlerLink(state, { token: b.token, class: "search", id: rowID(b.token, "search") }), " ", identityBadge(b.identity, b.blocked), ` at ${siteName(b.site)}`, b.last ? [", last ", when(b.last)] : null,
        b.path ? [": ", h("code", {}, b.path), b.line ? [" by ", lineLink(state, b), ", ", h("code", {}, b.rule)] : null] : null))),
      h("p", { class: "do" }, "Correct the rule, or write this into robots_guard of the site and reload."),
      command(`only_log ${verified.length ? "verified " : ""}${names}`, "the line for search engines")));
}

const fold = (key, summary, list, item) => (list.length ? h("details", { class: "knowns", key }, h("summary", {}, summary), h("ul", {}, list.map((a) => h("li", { key: a.id }, item(a))))) : null);

const urgency = (a) => badge("urgency", urgencies[a.severity] ?? a.severity);

// title links to the details of an alert.
const title = (state, a) => h("a", { href: href(state, where(a)) }, a.title);

function where(a) {
  const site = a.site ?? "";
  if (a.crawler && !isShared(a.crawler)) return { view: "crawlers", open: a.crawler, site };
  if (a.kind === "ready_for_enforce") return { view: "impact", site };
  return site ? { view: "robots", site } : { view: "now" };
}

function card(state, a, can, redraw) {
  return h("li", { class: `card ${a.severity}`, key: a.id },
    h("details", { open: wide.matches },
      h("summary", {}, h("span", { class: "cardtitle" }, a.title), " ", urgency(a)),
      h("p", {}, a.detail),
      h("p", { class: "do" }, a.do),
      a.copy ? command(a.copy, `the line: ${a.title}`) : null,
      h("div", { class: "cardfoot" },
        h("p", { class: "quiet" }, "since ", when(a.since), where(a).view === "now" ? null : [" · ", h("a", { href: href(state, where(a)), "aria-label": `Show more about: ${a.title}` }, "Show more")]),
        can ? acknowledge(a, redraw) : null),
      failure(a)));
}

// acknowledge returns a button, or a form for an optional note.
function acknowledge(a, redraw) {
  if (!openForms.has(a.id)) {
    const openForm = (event) => {
      const box = event.currentTarget.closest("details");
      openForms.add(a.id);
      redraw();
      queueMicrotask(() => box.querySelector("input")?.focus());
    };
    return h("p", { key: "ask" }, h("button", { type: "button", class: "plainbutton", "aria-label": `Acknowledge: ${a.title}`, click: openForm }, "Acknowledge"));
  }
  const cancel = () => { openForms.delete(a.id); failed.delete(a.id); redraw(); };
  const submit = (event) => {
    event.preventDefault();
    const note = event.currentTarget.querySelector("input").value;
    send(a, "POST", { note }, "Acknowledged");
  };
  return h("form", { key: "form", class: "acknowledge", submit },
    h("label", { class: "filter" }, h("span", {}, "Note"), h("input", { name: "note", maxlength: 200, placeholder: "optional", autocomplete: "off", "data-typed": true })),
    h("button", { class: "plainbutton" }, "Acknowledge"), h("button", { type: "button", class: "plainbutton", click: cancel }, "Cancel"));
}

const acknowledgement = (k) => h("span", { class: "quiet" }, ", ", h("time", { datetime: k.at, title: stamp(k.at) }, when(k.at)), k.by ? ` by ${k.by}` : "", k.note ? `: ${k.note}` : "");

const undo = (a) => h("button", { type: "button", class: "plainbutton", "aria-label": `Undo: ${a.title}`, click: () => send(a, "DELETE", undefined, "Open again") }, "Undo");

const failure = (a) => (failed.has(a.id) ? h("p", { class: "trouble", role: "alert" }, failed.get(a.id)) : null);

async function send(a, method, body, done) {
  const url = new URL(`${alertsURL}/${encodeURIComponent(a.id)}/acknowledge`, location.origin + location.pathname);
  try {
    const answer = await fetch(url, { method, headers: { "Content-Type": "application/json" }, body: body && JSON.stringify(body) });
    if (!answer.ok) throw new Error((await answer.json().catch(() => ({}))).error || `the server returned status ${answer.status}`);
    openForms.delete(a.id);
    failed.delete(a.id);
    document.getElementById("todo")?.focus(); // the pressed button disappears
    document.getElementById("said").textContent = done;
  } catch (error) {
    failed.set(a.id, `The request failed: ${error instanceof TypeError ? "the server cannot be reached" : error.message}.`);
  }
  dispatchEvent(new Event("changed"));
}

// hasAlert reports whether there is an alert of these kinds about a site and, if given, a crawler.
export const hasAlert = (list, kinds, site, crawler) =>
  Boolean(list?.alerts.some((a) => kinds.includes(a.kind) && a.site === site && (crawler === undefined || a.crawler === crawler)));
