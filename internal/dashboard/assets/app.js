// The page reads its state from the URL, fetches the data, draws, and repeats this every few
// seconds.

import { h, update } from "./dom.js";
import { choices } from "./filters.js";
import { serverNow, setClock, setLocal, stamp } from "./format.js";
import * as crawlers from "./crawlers.js";
import * as impact from "./impact.js";
import * as now from "./now.js";
import { glossary, rememberOrigins } from "./parts.js";
import * as robots from "./robots.js";
import { current, dataURL, href, views } from "./state.js";
import * as violations from "./violations.js";

const modules = { now, crawlers, violations, robots, impact };
const interval = 5000;

const main = document.getElementById("main");
const nav = document.getElementById("nav");
const filters = document.getElementById("filters");
const failureBar = document.getElementById("lost");
const foot = document.getElementById("foot");

let state = current();
let head; // last data with the choices of the filters
let paused = false;
let failure = ""; // error of the last refresh
let timer;
let request; // AbortController of the current refresh

// responses caches the last responses by URL.
const responses = new Map();
const maxResponses = 40;

async function load(url, signal) {
  // fetch rejects relative URLs if the URL of the page contains a password.
  const answer = await fetch(new URL(url, location.origin + location.pathname), { signal, cache: "no-store" });
  if (answer.status === 404) return remember(url, { status: 404 });
  if (!answer.ok) throw new Error(answer.status === 401 || answer.status === 403 ? "Access was denied. Sign in again" : `The server returned status ${answer.status}${await reason(answer)}`);
  if (!answer.headers.get("Content-Type")?.startsWith("application/json")) throw new Error("The server did not return JSON. Sign in again");
  const data = await answer.json();
  setClock(data.generated);
  rememberOrigins(data);
  return remember(url, { status: 200, data });
}

// reason returns the error message in a response, or "".
const reason = async (answer) => answer.json().then((body) => (body?.error ? `: ${body.error}` : ""), () => "");

function remember(url, entry) {
  responses.delete(url);
  responses.set(url, entry);
  if (responses.size > maxResponses) responses.delete(responses.keys().next().value);
  return entry;
}

// dataURLs returns the names and URLs of the data for the state.
const dataURLs = () => Object.entries(modules[state.view].urls((file, more) => {
  const { site, ...rest } = more ?? {};
  return dataURL(file, site === undefined ? state : { ...state, site }, rest);
}, state, head)).filter(([, url]) => url);

// originsURL is the data with the URLs of the sites. It is fetched once.
const originsURL = "summary.json?window=1h";

async function refresh() {
  clearTimeout(timer);
  request?.abort();
  const current = (request = new AbortController());
  const first = !head;
  const view = state.view;
  const urls = dataURLs().map(([, url]) => url);
  if (first && !urls.some((url) => url.startsWith("summary.json"))) urls.push(originsURL);
  const results = await Promise.allSettled(urls.map(async (url) => {
    const entry = await load(url, current.signal);
    if (entry.data?.filter && !current.signal.aborted && (!head || url !== originsURL)) head = entry.data;
    return entry;
  }));
  if (current.signal.aborted) return;
  const failed = results.find((r) => r.status === "rejected");
  failure = failed ? (failed.reason instanceof TypeError ? "The server cannot be reached" : failed.reason.message) : "";
  if (!failed) lastUpdate = serverNow();
  draw();
  if (first && head && view === "robots") return refresh(); // the first response has the sites
  schedule();
}

let lastUpdate; // server time of the last complete refresh

function schedule() {
  clearTimeout(timer);
  if (!paused && !document.hidden) timer = setTimeout(refresh, failure ? 3 * interval : interval);
}

function draw() {
  setLocal(state.zone === "local");
  const view = modules[state.view];
  document.title = `${view.title} – Robots Guard`;
  update(nav, views.map((name) => h("a", { key: name, href: href(state, { view: name }), "aria-current": name === state.view ? "page" : undefined }, modules[name].title)));
  update(filters, choices(state, head, redraw));
  const data = { errors: {} };
  let complete = true;
  for (const [name, url] of dataURLs()) {
    const entry = responses.get(url);
    if (entry?.status === 404) data.errors[name] = 404;
    else if (entry) data[name] = entry.data;
    else if (name !== "detail" && name !== "alerts") complete = false;
  }
  if (complete) {
    update(main, view.render(state, data, redraw), glossary());
    scrollToMarked();
    main.removeAttribute("aria-busy");
  } else if (!main.querySelector("h1") || main.querySelector(".waiting") || shown !== state.view) {
    update(main, h("h1", {}, view.title), h("p", { class: "waiting" }, failure || "Loading …"));
  } else main.setAttribute("aria-busy", "true"); // the previous numbers stay until the new ones arrive
  shown = state.view;
  update(failureBar, failureNote());
  update(foot, footer());
}

let shown;

// scrollToMarked scrolls once to the line of the robots.txt in the state.
let marked = "";
function scrollToMarked() {
  const line = main.querySelector(".line.marked");
  const name = line ? location.hash : "";
  if (name !== marked) line?.scrollIntoView({ block: "center" });
  marked = name;
}

// redraw schedules a draw. It does not draw at once, because a draw can remove the focused element,
// and the resulting event can call redraw.
let drawScheduled = false;
function redraw() {
  if (drawScheduled) return;
  drawScheduled = true;
  queueMicrotask(() => {
    drawScheduled = false;
    draw();
  });
}

// failureNote returns the error of the last refresh and the age of the numbers, or null.
function failureNote() {
  if (!failure) return null;
  return h("p", {}, `${failure}.`, lastUpdate ? [" The numbers are from ", h("time", { datetime: new Date(lastUpdate).toISOString() }, stamp(lastUpdate)), "."] : null);
}

function footer() {
  const as = lastUpdate ? new Date(lastUpdate) : undefined;
  return [
    h("p", {}, as ? ["As of ", h("time", { datetime: as.toISOString() }, stamp(as))] : "Connecting", head?.since ? `, counting since ${stamp(head.since)}` : "", ". ",
      h("button", { type: "button", class: "plainbutton", "aria-pressed": String(paused), click: () => { paused = !paused; draw(); if (!paused) refresh(); else schedule(); } }, paused ? "Resume updates" : "Pause updates")),
  ];
}

addEventListener("hashchange", () => {
  const before = state;
  state = current();
  draw();
  refresh();
  if (before.view !== state.view) {
    if (!state.line) scrollTo({ top: 0 });
    main.focus({ preventScroll: true });
  }
});
addEventListener("changed", () => refresh()); // after an acknowledgement
document.addEventListener("visibilitychange", () => (document.hidden ? clearTimeout(timer) : paused || refresh()));

// The fragment of the skip link is not a state.
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
  main.scrollIntoView();
});

draw();
refresh();
