// Formats numbers, times and words of the data.

import { h } from "./dom.js";

const integers = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

export const count = (n) => integers.format(n);

export const plural = (n, one, many) => `${count(n)} ${n === 1 ? one : many}`;

// percent returns "100 %" and "0 %" for exact values only.
export function percent(p) {
  if (p === undefined || p === null) return "–";
  if (p > 99.9 && p < 100) return "> 99.9 %";
  if (p > 0 && p < 0.1) return "< 0.1 %";
  return `${p.toFixed(p === 0 || p === 100 ? 0 : 1)} %`;
}

export const share = (part, whole) => (whole ? percent((100 * part) / whole) : "–");

export function rate(perMinute) {
  if (perMinute === 0) return "0\u00a0/\u00a0min";
  if (perMinute < 0.1) return "<\u00a00.1\u00a0/\u00a0min";
  return `${perMinute < 10 ? perMinute.toFixed(1) : count(perMinute)}\u00a0/\u00a0min`;
}

export function bytes(n) {
  if (n < 1024) return plural(n, "byte", "bytes");
  if (n < 1024 * 1024) return `${(n / 1024).toFixed(1)} KiB`;
  return `${(n / 1024 / 1024).toFixed(1)} MiB`;
}

// The server's time in the last response, and the browser's clock at that moment.
let serverTime = Date.now();
let receivedAt = performance.now();

export function setClock(generated) {
  serverTime = Date.parse(generated);
  receivedAt = performance.now();
}

export const serverNow = () => serverTime + (performance.now() - receivedAt);

export function duration(seconds) {
  const units = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
  const n = Math.max(0, Math.round(seconds));
  for (const [unit, size] of units) {
    // Below twice a unit, the smaller unit is more precise: 90 min, 30 h.
    if (n >= size * (size === 1 ? 0 : 2)) return `${Math.floor(n / size)} ${unit}`;
  }
  return `${n} s`;
}

const pad = (n) => String(n).padStart(2, "0");
const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

// Times are shown in UTC or in the browser's zone.
let local = false;

export const setLocal = (on) => { local = on; };

// shifted returns a time whose UTC parts are the local parts in the selected zone.
const shifted = (t) => (local ? new Date(t.getTime() - t.getTimezoneOffset() * 60000) : t);

// zone returns the name of the selected zone at a time.
export function zone(t = new Date()) {
  const minutes = local ? -t.getTimezoneOffset() : 0;
  if (!minutes) return "UTC";
  const m = Math.abs(minutes);
  return `UTC${minutes < 0 ? "−" : "+"}${Math.floor(m / 60)}${m % 60 ? `:${pad(m % 60)}` : ""}`;
}

const utcClock = (t) => `${pad(t.getUTCHours())}:${pad(t.getUTCMinutes())}`;
const utcDate = (t) => `${t.getUTCFullYear()}-${pad(t.getUTCMonth() + 1)}-${pad(t.getUTCDate())}`;

export const utcDay = (t) => `${t.getUTCDate()} ${months[t.getUTCMonth()]}`;
export const clock = (t) => utcClock(shifted(t));
export const day = (t) => utcDay(shifted(t));
export const hourOf = (t) => shifted(t).getUTCHours();
export const minuteOf = (t) => shifted(t).getUTCMinutes();

// stamp formats an exact time in the selected zone, and utcStamp in UTC for other readers.
export const stamp = (iso) => exact(shifted(new Date(iso)), zone(new Date(iso)));
export const utcStamp = (iso) => exact(new Date(iso), "UTC");
const exact = (t, name) => `${utcDate(t)} ${utcClock(t)}:${pad(t.getUTCSeconds())} ${name}`;

// toField and fromField convert between ISO times and the value of a datetime-local field.
export const toField = (iso) => `${utcDate(shifted(new Date(iso)))}T${clock(new Date(iso))}`;
export function fromField(text) {
  const t = new Date(local ? text : `${text}Z`);
  return Number.isNaN(t.getTime()) ? "" : `${t.toISOString().slice(0, 16)}:00Z`;
}

// elapsed returns the time since a moment.
export const elapsed = (iso) => duration((serverNow() - Date.parse(iso)) / 1000);

// when shows a time relative to now, with the exact time as a tooltip.
export function when(iso, none = "–") {
  if (!iso) return none;
  const seconds = (serverNow() - Date.parse(iso)) / 1000;
  let text = seconds < 5 && seconds > -5 ? "just now" : seconds < 0 ? `in ${duration(-seconds)}` : `${duration(seconds)} ago`;
  return h("time", { datetime: iso, title: stamp(iso) }, text);
}

// period returns the name of a view's window.
export function period(head) {
  if (head.filter.window !== "range") return windows[head.filter.window];
  const from = new Date(head.from), to = new Date(head.to);
  return `${day(from)}, ${clock(from)} to ${day(from) === day(to) ? "" : `${day(to)}, `}${clock(to)}`;
}

// inPeriod returns the name of a view's window for use after "in".
export const inPeriod = (head) => (head.filter.window === "range" ? `the range ${period(head)}` : `the ${period(head)}`);

// uncounted returns the number of steps of a view before counting began.
export const uncounted = (head, step, steps) => Math.min(steps - 1, Math.max(0, Math.floor((Date.parse(head.counted_from) - Date.parse(head.from)) / 1000 / step)) || 0);

export const windows = { "1h": "last hour", "24h": "last 24 hours", "7d": "last 7 days", "30d": "last 30 days" };

const classNames = {
  search: "search engine", ai_training: "AI training", ai_search: "AI search", ai_assistant: "AI assistant", seo: "SEO",
  ads: "advertising", archive: "archive", research: "research", security: "security", preview: "link preview",
  feed: "feed reader", monitor: "monitor", service: "service", library: "HTTP library", headless: "headless browser", crawler: "crawler", other: "other",
};

export const className = (name) => classNames[name] ?? name;

// The words of the page. The keys are the words of the JSON, logs and metrics.
const verdictNames = { unknown: "no robots.txt known", stale: "in grace", disallowed: "violation" };

export const verdictName = (verdict) => verdictNames[verdict] ?? verdict;

export const verdicts = {
  allowed: "robots.txt allows the request",
  exempt: "the guard does not apply robots.txt to this client",
  unknown: "the robots.txt was not known at the time of the request",
  stale: "a recent change disallows the request; the crawler may still use the earlier file",
  disallowed: "robots.txt disallows the request",
};

const identityNames = { claimed: "unverified", unknown: "checking" };

export const identityName = (identity) => identityNames[identity] ?? identity;

export const identities = {
  verified: "the sender is the operator that the User-Agent names",
  claimed: "not checked: verify is off, or the operator publishes no addresses, DNS names or keys",
  unknown: "the check is not finished, or failed",
  spoofed: "the sender is not the operator that the User-Agent names",
};

export const siteName = (site) => (site === "_other" ? "all other hosts" : site);

// crawlerName returns the name of a crawler. Clients with a shared token have the names in
// their User-Agents, if these are known.
export function crawlerName(token, kind, names) {
  if (token === "_spoofed") return "false names";
  if (token !== "_other") return token;
  return names?.length ? `${names[0].name}${names.length > 1 ? ` and ${count(names.length - 1)} more` : ""}` : `all others (${className(kind)})`;
}

export const shortVersion = (version) => (version ?? "").slice(0, 8);

// afterFetch returns for how many requests against a preference the crawler had fetched the
// preference before.
export const afterFetch = (a) => (a.known === a.requests ? "yes" : a.known ? `in ${count(a.known)} of ${count(a.requests)} requests` : "no");
