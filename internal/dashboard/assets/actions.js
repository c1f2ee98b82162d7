// Actions about one crawler: lines for robots.txt, the Caddyfile and a shell, and a mail to its
// operator.

import { h } from "./dom.js";
import { count, identityName, utcStamp } from "./format.js";
import { command, hostOf, lineLink, origin, quotedToken, safeURL } from "./parts.js";

// Clients choose their names. Text for a file or a shell contains only safe characters, or is
// quoted.
const token = /^[A-Za-z0-9][\w.+!~:/ -]{0,79}$/;
const printable = (text) => text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, "?");
const quoted = (text) => `'${printable(text).replaceAll("'", "'\\''")}'`;

export function actions(state, d) {
  const c = d.crawler;
  const name = token.test(c.token) ? c.token : undefined;
  const onlyLog = name && `only_log ${c.identities.verified ? "verified " : ""}${quotedToken(name)}`;
  const disallowAll = d.rules.find((r) => r.group !== "*" && r.verdict === "disallowed" && /^disallow:\s*\/\*?$/i.test(r.rule));
  const example = d.paths.find((p) => p.verdict === "disallowed") ?? d.paths[0];
  const agent = d.agents[0]?.user_agent;
  const url = example && example.site !== "_other" && !example.path.endsWith("…") ? `${origin(example.site, example.host || example.site)}${example.path}` : undefined;
  return h("section", { class: "part actions", key: "actions" }, h("h3", {}, "What to do"), h("p", {}, advice(state, d, disallowAll)),
    h("dl", {},
      name && !disallowAll ? action("Disallow everything", "in robots.txt", `User-agent: ${name}\nDisallow: /`, c.class === "search" ? "Your pages disappear from its search results." : null) : null,
      name ? action("Exempt it", "in robots_guard", onlyLog.replace("only_log", "exempt")) : null,
      name ? action("Log, but do not block", "in robots_guard", onlyLog) : null,
      c.token === "_spoofed" ? action("Block spoofed clients", "in robots_guard", "spoofed block") : null,
      agent && url ? action("Explain the verdict", "in a shell", `caddy robots-guard explain${c.token === "_spoofed" ? " --identity spoofed" : ""} --user-agent ${quoted(agent)} ${quoted(url)}`) : null),
    c.disallowed ? mail(d) : null);
}

const action = (title, where, text, note) => h("div", { key: title }, h("dt", {}, title, " ", h("span", { class: "quiet" }, where)), h("dd", {}, command(text, `the line: ${title}`), note ? h("p", { class: "quiet" }, note) : null));

// advice recommends what to do about a crawler. disallowAll is the rule that disallows everything for
// it, if any.
export function advice(state, { crawler: c }, disallowAll) {
  if (c.token === "_spoofed") return "These clients use false names. They may ignore robots.txt, but the guard can block them.";
  if (!c.disallowed) return c.stale ? "Wait. Only a recent change disallows its requests, and it may still use the earlier file." : "Nothing to do. It has no violations.";
  const where = disallowAll ? [" Your robots.txt already disallows everything for it (", lineLink(state, disallowAll), ")."] : null;
  if (c.action === "blocked") return [c.class === "search" ? "This search engine is blocked. If that is not intended, correct the rule, or write the line below with only_log into robots_guard of the site and reload." : "Nothing to do. Its violations are blocked.", where];
  if (!c.read) return ["It has not fetched robots.txt, and its violations pass. Use ", h("code", {}, "enforce"), " to block them.", where];
  return ["It fetches robots.txt and violates it, and its violations pass. Use ", h("code", {}, "enforce"), " to block them.", where];
}

// Maximum length of the mail, because mail programs limit the length of a link.
const maxMail = 1600;

function mail(d) {
  const c = d.crawler;
  const name = c.token.startsWith("_") ? "a crawler" : printable(c.token);
  const subject = `Requests of ${name} that robots.txt disallows`;
  const text = mailText(d, name);
  return h("details", { key: "mail" }, h("summary", {}, "Mail to the operator, or to the abuse contact of the network"),
    h("p", { class: "quiet" }, "Attach the evidence (text, above). Unverified requests can come from other senders."),
    command(text, "the mail"),
    h("p", {}, h("a", { class: "button", href: safeURL(`mailto:?subject=${encodeURIComponent(subject)}&body=${encodeURIComponent(text.replaceAll("\n", "\r\n"))}`) }, "Open in the mail program")));
}

function mailText(d, name) {
  const c = d.crawler;
  const sites = [...new Set(d.recent.map(hostOf))].slice(0, 5);
  const identity = ["verified", "claimed", "unknown", "spoofed"].filter((i) => c.identities[i]).map((i) => `${count(c.identities[i])} ${identityName(i)}`).join(", ");
  const lines = [
    "Hello,", "",
    `clients with the name ${name} request pages that our robots.txt disallows${sites.length ? ` (${sites.map(printable).join(", ")})` : ""}.`, "",
    `Period: ${utcStamp(d.from)} to ${utcStamp(d.to)}`,
    `Requests: ${count(c.requests)}, disallowed: ${count(c.disallowed)}`,
    `Identity: ${identity}`,
    d.agents[0] ? `User-Agent: ${printable(d.agents[0].user_agent)}` : null,
    d.networks.length ? `Networks: ${d.networks.slice(0, 5).map((n) => n.network).join(", ")}` : null,
    c.read ? `Last fetch of robots.txt: ${utcStamp(c.read.at)}, status ${c.read.status}` : "No fetch of robots.txt was seen.", "", "Examples:",
  ].filter((line) => line !== null);
  const end = ["", "Please make the crawler follow robots.txt (RFC 9309). If these requests are not yours, please tell us."];
  let size = [...lines, ...end].join("\n").length;
  for (const r of d.recent.filter((r) => r.verdict === "disallowed").slice(0, 10)) {
    const line = `${utcStamp(r.at)} ${printable(r.method)} ${printable(hostOf(r) + r.path)}, disallowed by "${printable(r.rule)}" (line ${r.line}), from ${r.network}, ${identityName(r.identity)}`;
    size += line.length + 1;
    if (size > maxMail) break;
    lines.push(line);
  }
  return [...lines, ...end].join("\n").slice(0, maxMail + 400);
}
