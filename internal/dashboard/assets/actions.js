// What can be done about one crawler: lines for robots.txt, for the Caddyfile
// and for a shell, and a letter to its operator.

import { h } from "./dom.js";
import { count, identityName, utcStamp } from "./format.js";
import { command, lineLink, origin, place, safeURL } from "./parts.js";

// A client may call itself anything: what goes into a file or a shell is made of
// harmless characters, or quoted.
const token = /^[A-Za-z0-9][\w.+!~:/ -]{0,79}$/;
const printable = (text) => text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, "?");
const quoted = (text) => `'${printable(text).replaceAll("'", "'\\''")}'`;

export function actions(state, d) {
  const c = d.crawler;
  const name = token.test(c.token) ? c.token : undefined;
  const word = name?.includes(" ") ? `"${name}"` : name;
  const who = c.identities.verified ? "verified " : "";
  const closed = d.rules.find((r) => r.group !== "*" && r.verdict === "disallowed" && /^disallow:\s*\/\*?$/i.test(r.rule));
  const worst = d.paths.find((p) => p.verdict === "disallowed") ?? d.paths[0];
  const agent = d.agents[0]?.user_agent;
  const url = worst && worst.site !== "_other" && !worst.path.endsWith("…") ? `${origin(worst.site, worst.host || worst.site)}${worst.path}` : undefined;
  return h("section", { class: "part actions", key: "actions" }, h("h3", {}, "What to do"), h("p", {}, advice(state, d, closed)),
    h("dl", {},
      name && !closed ? action("Shut it out", "in robots.txt", `User-agent: ${name}\nDisallow: /`, c.class === "search" ? "Its search results lose your pages." : null) : null,
      name ? action("Never judge it", "in robots_guard", `exempt ${who}${word}`) : null,
      name ? action("Log it, never block it", "in robots_guard", `only_log ${who}${word}`) : null,
      c.token === "_spoofed" ? action("Turn all false names away", "in robots_guard", "spoofed block") : null,
      agent && url ? action("Have the verdict explained", "in a shell", `caddy robots-guard explain${c.token === "_spoofed" ? " --identity spoofed" : ""} --user-agent ${quoted(agent)} ${quoted(url)}`) : null),
    c.disallowed ? letter(d) : null);
}

const action = (title, where, text, note) => h("div", { key: title }, h("dt", {}, title, " ", h("span", { class: "quiet" }, where)), h("dd", {}, command(text, `the line: ${title}`), note ? h("p", { class: "quiet" }, note) : null));

// advice is what an owner should know first.
export function advice(state, { crawler: c }, closed) {
  if (c.token === "_spoofed") return "Somebody uses the names of others. Nothing you write in robots.txt reaches them; they can be turned away.";
  if (!c.disallowed) return c.stale ? "It did only what a recent change forbids, which it need not know yet. Wait." : "It keeps the rules. There is nothing to do.";
  const where = closed ? [" Your robots.txt shuts it out already (", lineLink(state, closed), ")."] : null;
  if (c.action === "blocked") return [c.class === "search" ? "It is a search engine, and it is blocked where the rules forbid it. If that is not meant, mend the rule, or let it be logged only." : "It is blocked where the rules forbid it. There is nothing to do.", where];
  if (!c.read) return ["It was never seen to read robots.txt, so only ", h("code", {}, "enforce"), " stops it. Now it is let through.", where];
  return ["It reads robots.txt and breaks it all the same. Now it is let through; ", h("code", {}, "enforce"), " stops it.", where];
}

// A letter holds a few examples, so that a mail program takes it in a link.
const maxLetter = 1600;

function letter(d) {
  const c = d.crawler;
  const name = c.token.startsWith("_") ? "a crawler" : printable(c.token);
  const subject = `Requests of ${name} against robots.txt`;
  const text = letterText(d, name);
  return h("details", { key: "letter" }, h("summary", {}, "A mail to its operator, or to the abuse desk of its network"),
    h("p", { class: "quiet" }, "Attach the evidence as readable text, above. What is unverified may have been sent by somebody else."),
    command(text, "the mail"),
    h("p", {}, h("a", { class: "button", href: safeURL(`mailto:?subject=${encodeURIComponent(subject)}&body=${encodeURIComponent(text.replaceAll("\n", "\r\n"))}`) }, "Open in your mail program")));
}

function letterText(d, name) {
  const c = d.crawler;
  const sites = [...new Set(d.recent.map(place))].slice(0, 5);
  const identity = ["verified", "claimed", "unknown", "spoofed"].filter((i) => c.identities[i]).map((i) => `${count(c.identities[i])} ${identityName(i)}`).join(", ");
  const lines = [
    "Hello,", "",
    `clients that call themselves ${name} ask for pages that our robots.txt forbids${sites.length ? ` (${sites.map(printable).join(", ")})` : ""}.`, "",
    `Period: ${utcStamp(d.from)} to ${utcStamp(d.to)}`,
    `Requests: ${count(c.requests)}, against the rules: ${count(c.disallowed)}`,
    `Who it was: ${identity}`,
    d.agents[0] ? `User-Agent: ${printable(d.agents[0].user_agent)}` : null,
    d.networks.length ? `Networks: ${d.networks.slice(0, 5).map((n) => n.network).join(", ")}` : null,
    c.read ? `Last read robots.txt: ${utcStamp(c.read.at)}, status ${c.read.status}` : "It was not seen to read robots.txt.", "", "Examples:",
  ].filter((line) => line !== null);
  const end = ["", "Please see to it that it keeps to robots.txt (RFC 9309), or tell us if it was not yours."];
  let size = [...lines, ...end].join("\n").length;
  for (const r of d.recent.filter((r) => r.verdict === "disallowed").slice(0, 10)) {
    const line = `${utcStamp(r.at)} ${printable(r.method)} ${printable(place(r) + r.path)}, forbidden by "${printable(r.rule)}" (line ${r.line}), from ${r.network}, ${identityName(r.identity)}`;
    size += line.length + 1;
    if (size > maxLetter) break;
    lines.push(line);
  }
  return [...lines, ...end].join("\n").slice(0, maxLetter + 400);
}
