// The view robots.txt: the file with counts for each line, and its versions.

import { meter } from "./chart.js";
import { list } from "./detail.js";
import { h } from "./dom.js";
import { bytes, count, crawlerName, plural, serverNow, shortVersion, siteName, stamp, verdictName, when } from "./format.js";
import { badge, downloads, empty, exampleURL, hasManyHosts, health, section } from "./parts.js";
import { managed as managedPart } from "./managed.js";
import { trials } from "./shadow.js";
import { go, href } from "./state.js";

export const title = "robots.txt";

// Number of lines of a long file before the button "Show all".
const manyLines = 1500;

// siteOf returns the site of the filter, or the first site with a name.
const siteOf = (state, head) => state.site || (head?.sites ?? []).find((name) => name !== "_other") || head?.sites?.[0];

export function urls(url, state, head) {
  const site = siteOf(state, head);
  return site ? { robots: url("robots.json", { site }), shadow: url("shadow.json", { site }), managed: url("managed.json", { site }) } : { summary: url("summary.json", { site: "" }) }; // for the list of sites
}

export function render(state, { robots: r, shadow, managed, summary, errors }) {
  const sites = r?.sites ?? summary?.sites ?? [];
  const site = r?.filter.site;
  return [
    h("h1", {}, "robots.txt"),
    sites.length > 1 ? h("ul", { class: "picks", "aria-label": "Sites" }, sites.map((name) => h("li", { key: name },
      h("a", { href: href(state, { site: name }), "aria-current": name === site ? "true" : undefined }, siteName(name))))) : null,
    !r ? section("File", null, empty(errors?.robots === 404 ? "Unknown site" : "No file yet",
      "The guard fetches the robots.txt of a site at the first crawler request. To send such a request:",
      `curl -A "GPTBot/1.3" ${exampleURL(summary)}/`)) : [
      section(siteName(site), downloads(state, "robots", { site }), facts(r), r.findings.length ? general(r) : null),
      managed ? managedPart(managed) : null,
      shadow ? trials(state, shadow) : null,
      earlierVersion(state, r) ?? (r.lines.length ? section("Line by line", [state.version ? missingVersion(state, r) : null, note(r)], lines(state, r)) : r.health.state === "unread" || !r.versions.length ? section("Line by line", null,
        hasManyHosts(site) ? empty("One for each host", `This site stands for all hosts that ${site === "_other" ? "the configuration does not name" : `match ${site} and no other site`}. Each host has its own robots.txt, so none is shown.`)
          : empty("Not fetched yet", "The guard fetches the file at the first crawler request for this site. To send such a request:", `curl -A "GPTBot/1.3" ${exampleURL({ sites: [site] })}/`))
        : section("Line by line", null, h("p", { class: "quiet" }, "The file is empty, so nothing is disallowed."))),
      r.versions.length ? section("Versions", null, h("ol", { class: "versions" }, r.versions.map((v, i) => version(v, i, r)))) : null,
    ],
  ];
}

function facts(r) {
  const f = r.health;
  const fact = (name, value) => (value === undefined || value === null || value === "" ? null : h("div", { key: name }, h("dt", {}, name), h("dd", {}, value)));
  return h("dl", { class: "facts" },
    fact("State", health(r.filter.site, f)),
    fact("Source", f.authority),
    fact("Status", f.status || undefined),
    fact("Version", f.version ? h("code", { title: `SHA-256 ${f.version}` }, shortVersion(f.version)) : undefined),
    fact("Since", f.first_read ? when(f.first_read) : undefined),
    fact("Next fetch", f.next_read ? (Date.parse(f.next_read) > serverNow() ? when(f.next_read) : "at the next crawler request") : undefined),
    fact("Consecutive failures", f.failures ? count(f.failures) : undefined),
    fact("License", r.licenses?.length ? r.licenses.map((url) => h("div", {}, h("code", { class: "path" }, url))) : undefined),
    fact("Change delayed", f.held_until ? ["the previous version is in force until ", when(f.held_until)] : undefined),
    fact("Grace ends", f.takes_effect ? when(f.takes_effect) : undefined));
}

const finding = (f, i) => h("li", { key: `${f.code} ${i}` }, badge(`severity ${f.severity}`, f.severity), " ", f.message, " ", h("code", { class: "quiet" }, f.code));

// general shows the findings about the whole file, and the number of findings at lines.
function general(r) {
  const whole = r.findings.filter((f) => !f.line);
  const atLines = r.findings.length - whole.length;
  return h("div", { class: "general" },
    whole.length ? h("ul", { class: "findings" }, whole.map(finding)) : null,
    r.unreported ? h("p", { class: "quiet" }, `${plural(r.unreported, "more finding is", "more findings are")} not shown. The command lint shows all.`) : null,
    atLines ? h("p", { class: "quiet" }, `${plural(atLines, "finding is", "findings are")} at the lines below.`) : null);
}

const note = (r) => h("p", { class: "quiet aside" },
  r.counted_since ? ["counted since ", when(r.counted_since), r.health.first_read > r.counted_since ? [", new lines since ", when(r.health.first_read)] : null, ", without the filters"] : "nothing counted yet",
  r.never_hit ? `; ${plural(r.never_hit, "rule", "rules")} never used` : "", r.complete ? "" : "; only some lines are counted");

const marked = (state, line) => (state.line === String(line) ? " marked" : "");

// earlierVersion shows the version in the state, or null if it is the current version. There are no
// counts for lines of earlier versions.
function earlierVersion(state, r) {
  const v = state.version && r.versions.find((v) => v.version === state.version);
  if (!v || !v.until) return null;
  const texts = (v.text ?? "").split(/\r\n|\n|\r/);
  if (texts[texts.length - 1] === "") texts.pop();
  return section(`Version ${shortVersion(v.version)}`, h("p", { class: "quiet aside" }, "in force from ", h("time", { datetime: v.first_read }, stamp(v.first_read)), " to ", h("time", { datetime: v.until }, stamp(v.until)), ". ",
    h("a", { href: href(state, { version: "", line: "" }) }, "Show the current version")),
  h("table", { class: "source" }, h("caption", { class: "unseen" }, "An earlier robots.txt"),
    h("thead", { class: "unseen" }, h("tr", {}, h("th", { scope: "col" }, "Line"), h("th", { scope: "col" }, "Text"))),
    h("tbody", {}, texts.map((text, i) => h("tr", { key: i, class: `line${marked(state, i + 1)}` }, h("td", { class: "number lineno" }, i + 1), h("td", { class: "text" }, h("code", {}, text || " ")))))));
}

// missingVersion says that the version in the state is not stored, or returns null.
const missingVersion = (state, r) => (r.versions.some((v) => v.version === state.version) ? null
  : h("p", { class: "quiet aside" }, `Version ${shortVersion(state.version)} is no longer stored. This is the current version.`));

function lines(state, r) {
  const top = Math.max(1, ...r.lines.filter((l) => l.kind === "rule").map((l) => l.hits));
  const all = state.lines === "all" || state.line > manyLines || r.lines.length <= manyLines;
  return [
    h("table", { class: "source" },
      h("caption", { class: "unseen" }, "The current robots.txt with the number of requests that each line decided"),
      h("thead", {}, h("tr", {}, h("th", { scope: "col", class: "number" }, h("span", { class: "unseen" }, "Line")), h("th", { scope: "col" }, "Text"), h("th", { scope: "col", class: "number" }, "Requests"))),
      h("tbody", {}, (all ? r.lines : r.lines.slice(0, manyLines)).map((l) => h("tr", { key: l.line, class: `line ${l.kind}${l.never_hit ? " never" : ""}${marked(state, l.line)}` },
        h("td", { class: "number lineno" }, l.line),
        h("td", { class: "text" }, h("code", {}, l.text || " "), l.findings?.length ? h("ul", { class: "findings" }, l.findings.map(finding)) : null),
        h("td", { class: "number hits" }, l.kind === "rule" || l.kind === "user-agent"
          ? l.never_hit ? h("span", { class: "quiet nowrap" }, "never used") : [l.kind === "rule" ? meter((100 * l.hits) / top, "hit") : null, count(l.hits)] : ""))))),
    all ? null : h("p", {}, h("button", { type: "button", class: "plainbutton", click: () => go(state, { lines: "all" }, true) }, `Show all ${count(r.lines.length)} lines`)),
  ];
}

function version(v, i, r) {
  const before = r.versions[i + 1];
  const changed = v.diff.filter((l) => l.op !== " ");
  const added = changed.filter((l) => l.op === "+").length;
  return h("li", { key: v.version + v.first_read, class: "version" },
    h("h3", {}, v.version ? h("code", { title: `SHA-256 ${v.version}` }, shortVersion(v.version)) : v.status >= 400 ? "no file" : "empty file", " ", v.until ? null : badge("severity info", "current")),
    h("p", { class: "quiet" }, "first fetched ", h("time", { datetime: v.first_read }, stamp(v.first_read)), v.until ? [", replaced ", h("time", { datetime: v.until }, stamp(v.until))] : [", last fetched ", when(v.last_read)],
      ` · ${bytes(v.bytes)} · ${plural(v.rules, "rule", "rules")} · status ${v.status}`),
    !before ? h("p", { class: "quiet" }, "No earlier version is stored.")
      : h("details", { open: i === 0 }, h("summary", {}, changed.length ? `Changes: ${plural(added, "line", "lines")} added, ${count(changed.length - added)} removed` : "No changed lines"),
        h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Difference to the previous version" },
          h("table", { class: "diff" }, h("caption", { class: "unseen" }, "Difference to the previous version"),
            h("thead", { class: "unseen" }, h("tr", {}, h("th", { scope: "col" }, "Line"), h("th", { scope: "col" }, "Change"), h("th", { scope: "col" }, "Text"))),
            h("tbody", {}, v.diff.map((l) => h("tr", { class: l.op === "+" ? "added" : l.op === "-" ? "removed" : "same" },
              h("td", { class: "number lineno" }, l.line), h("td", { class: "op" }, h("span", { class: "unseen" }, l.op === "+" ? "added" : l.op === "-" ? "removed" : "same"), h("span", { "aria-hidden": "true" }, l.op === "-" ? "−" : l.op)), h("td", { class: "text" }, h("code", {}, l.text || " ")))))))),
    before ? rejudged(v) : null);
}

function rejudged(v) {
  if (!v.rejudged.length) return h("p", { class: "quiet" }, "The change affects no stored path. Only paths of violations are stored.");
  return h("details", {}, h("summary", {}, `Changed verdicts: ${plural(v.rejudged.length, "stored path", "stored paths")}`),
    h("div", { class: "part" }, list("Paths with a changed verdict", ["Path", "Crawler", "Before", "Now", "Rule", "#Requests"], v.rejudged.map((j) => [
      h("code", { class: "path" }, j.path), crawlerName(j.token, "other"), verdictName(j.before), verdictName(j.after),
      j.rule ? [h("code", {}, j.rule), h("span", { class: "quiet" }, ` line ${j.line}`)] : h("span", { class: "quiet" }, "no rule"), count(j.count)]))));
}
