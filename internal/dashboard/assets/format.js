// How numbers, times and words of the data are shown.

import { h } from "./dom.js";

const integers = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

export const count = (n) => integers.format(n);

export const plural = (n, one, many) => `${count(n)} ${n === 1 ? one : many}`;

// percent rounds towards the middle: 100 % and 0 % are said only if they are
// exact.
export function percent(p) {
  if (p === undefined || p === null) return "–";
  if (p > 99.9 && p < 100) return "> 99.9 %";
  if (p > 0 && p < 0.1) return "< 0.1 %";
  return `${p.toFixed(p === 0 || p === 100 ? 0 : 1)} %`;
}

export const share = (part, whole) => (whole ? percent((100 * part) / whole) : "–");

export function rate(perMinute) {
  if (perMinute === 0) return "0 / min";
  if (perMinute < 0.1) return "< 0.1 / min";
  return `${perMinute < 10 ? perMinute.toFixed(1) : count(perMinute)} / min`;
}

export function bytes(n) {
  if (n < 1024) return plural(n, "byte", "bytes");
  if (n < 1024 * 1024) return `${(n / 1024).toFixed(1)} KiB`;
  return `${(n / 1024 / 1024).toFixed(1)} MiB`;
}

// The server's clock: what it last said, and how long ago that was.
let serverTime = Date.now();
let heardAt = performance.now();

export function setClock(generated) {
  serverTime = Date.parse(generated);
  heardAt = performance.now();
}

export const serverNow = () => serverTime + (performance.now() - heardAt);

export function duration(seconds) {
  const units = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
  const n = Math.max(0, Math.round(seconds));
  for (const [unit, size] of units) {
    // Below the double, the smaller unit tells more: 90 min, 30 h.
    if (n >= size * (size === 1 ? 0 : 2)) return `${Math.floor(n / size)} ${unit}`;
  }
  return `${n} s`;
}

const pad = (n) => String(n).padStart(2, "0");
const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

export const clock = (t) => `${pad(t.getUTCHours())}:${pad(t.getUTCMinutes())}`;
export const day = (t) => `${t.getUTCDate()} ${months[t.getUTCMonth()]}`;

// stamp is an exact time.
export function stamp(iso) {
  const t = new Date(iso);
  return `${t.getUTCFullYear()}-${pad(t.getUTCMonth() + 1)}-${pad(t.getUTCDate())} ${clock(t)}:${pad(t.getUTCSeconds())} UTC`;
}

// elapsed is how long ago a time was.
export const elapsed = (iso) => duration((serverNow() - Date.parse(iso)) / 1000);

// when shows a time by its distance from now, with the exact one behind it.
export function when(iso, none = "–") {
  if (!iso) return none;
  const seconds = (serverNow() - Date.parse(iso)) / 1000;
  let text = seconds < 5 && seconds > -5 ? "just now" : seconds < 0 ? `in ${duration(-seconds)}` : `${duration(seconds)} ago`;
  return h("time", { datetime: iso, title: stamp(iso) }, text);
}

export const windows = { "1h": "last hour", "24h": "last 24 hours", "7d": "last 7 days", "30d": "last 30 days" };

const classNames = {
  search: "search engine", ai_training: "AI training", ai_search: "AI search", ai_assistant: "AI assistant", seo: "SEO",
  ads: "advertising", archive: "archive", research: "research", security: "security", preview: "link preview",
  feed: "feed reader", monitor: "monitor", service: "service", library: "HTTP library", headless: "headless browser", crawler: "crawler", other: "other",
};

export const className = (name) => classNames[name] ?? name;

// The words of the page; those of the JSON, the logs and the labels are the keys.
const verdictNames = { unknown: "no rules known", stale: "in grace", disallowed: "against the rules" };

export const verdictName = (verdict) => verdictNames[verdict] ?? verdict;

export const verdicts = {
  allowed: "its group lets it, or no rule applies",
  exempt: "no rule is meant for this client",
  unknown: "no robots.txt was known when it was asked",
  stale: "only a recent change forbids it, which the crawler need not know yet",
  disallowed: "robots.txt forbids it",
};

const identityNames = { claimed: "unverified", unknown: "checking" };

export const identityName = (identity) => identityNames[identity] ?? identity;

export const identities = {
  verified: "the sender proved to be who the User-Agent names",
  claimed: "only the User-Agent says so: verify is off, or its operator publishes nothing to check it by",
  unknown: "not decided: a check is under way, or could not be finished",
  spoofed: "the check showed that it is somebody else",
};

export const siteName = (site) => (site === "_other" ? "all other hosts" : site);

export const crawlerName = (token, kind) => (token === "_other" ? `all others (${className(kind)})` : token === "_spoofed" ? "false names" : token);

export const shortVersion = (version) => (version ?? "").slice(0, 8);
