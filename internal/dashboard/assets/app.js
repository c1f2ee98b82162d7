// The page: reads its state from the URL, asks for the data, draws, and asks
// again every few seconds.

import { h, update } from "./dom.js";
import { choices } from "./filters.js";
import { serverNow, setClock, setLocal, stamp } from "./format.js";
import * as crawlers from "./crawlers.js";
import * as impact from "./impact.js";
import * as now from "./now.js";
import { learn, words } from "./parts.js";
import * as robots from "./robots.js";
import { current, dataURL, href, views } from "./state.js";
import * as violations from "./violations.js";

const modules = { now, crawlers, violations, robots, impact };
const interval = 5000;

const main = document.getElementById("main");
const nav = document.getElementById("nav");
const filters = document.getElementById("filters");
const lost = document.getElementById("lost");
const foot = document.getElementById("foot");

let state = current();
let head; // what there is to choose from, of the last answer
let paused = false;
let trouble = ""; // why the last attempt failed
let timer;
let request; // the AbortController of the attempt under way

// kept holds the last answers by URL, with their entity tags.
const kept = new Map();
const maxKept = 40;

async function load(url, signal) {
  const known = kept.get(url);
  // Not simply relative: fetch refuses a page's URL that holds a password.
  const answer = await fetch(new URL(url, location.origin + location.pathname), { signal, cache: "no-store", headers: known?.etag ? { "If-None-Match": known.etag } : {} });
  if (answer.status === 304) return known;
  if (answer.status === 404) return remember(url, { status: 404 });
  if (!answer.ok) throw new Error(answer.status === 401 || answer.status === 403 ? "Access was refused; sign in again" : `The server answered ${answer.status}${await reason(answer)}`);
  if (!answer.headers.get("Content-Type")?.startsWith("application/json")) throw new Error("The server answered with something else; sign in again");
  const data = await answer.json();
  setClock(data.generated);
  learn(data);
  return remember(url, { status: 200, etag: answer.headers.get("ETag"), data });
}

// reason is what the server says of an error, if it does.
const reason = async (answer) => answer.json().then((said) => (said?.error ? `: ${said.error}` : ""), () => "");

function remember(url, entry) {
  kept.delete(url);
  kept.set(url, entry);
  if (kept.size > maxKept) kept.delete(kept.keys().next().value);
  return entry;
}

// wanted returns the URLs of the data of the state, by name.
const wanted = () => Object.entries(modules[state.view].urls((file, more) => {
  const { site, ...rest } = more ?? {};
  return dataURL(file, site === undefined ? state : { ...state, site }, rest);
}, state, head)).filter(([, url]) => url);

// places tells where the sites are; the first answer that does is enough.
const places = "summary.json?window=1h";

async function refresh() {
  clearTimeout(timer);
  request?.abort();
  const mine = (request = new AbortController());
  const knew = Boolean(head);
  const before = state;
  const urls = wanted().map(([, url]) => url);
  if (!knew && !urls.some((url) => url.startsWith("summary.json"))) urls.push(places);
  const results = await Promise.allSettled(urls.map(async (url) => {
    const entry = await load(url, mine.signal);
    if (entry.data?.filter && !mine.signal.aborted && (!head || url !== places)) head = entry.data;
    return entry;
  }));
  if (mine.signal.aborted) return;
  const failed = results.find((r) => r.status === "rejected");
  trouble = failed ? (failed.reason instanceof TypeError ? "The server cannot be reached" : failed.reason.message) : "";
  if (!failed) heard = serverNow();
  draw();
  if (!knew && head && before.view === "robots") return refresh(); // now there is a site to choose
  plan();
}

let heard; // when all answers were there

function plan() {
  clearTimeout(timer);
  if (!paused && !document.hidden) timer = setTimeout(refresh, trouble ? 3 * interval : interval);
}

function draw() {
  setLocal(state.zone === "local");
  const view = modules[state.view];
  document.title = `${view.title} – Robots Guard`;
  update(nav, views.map((name) => h("a", { key: name, href: href(state, { view: name }), "aria-current": name === state.view ? "page" : undefined }, modules[name].title)));
  update(filters, choices(state, head, redraw));
  const data = { errors: {} };
  let complete = true;
  for (const [name, url] of wanted()) {
    const entry = kept.get(url);
    if (entry?.status === 404) data.errors[name] = 404;
    else if (entry) data[name] = entry.data;
    else if (name !== "detail" && name !== "alerts") complete = false;
  }
  if (complete) {
    update(main, view.render(state, data, redraw), words());
    toMarked();
    main.removeAttribute("aria-busy");
  } else if (!main.querySelector("h1") || main.querySelector(".waiting") || shown !== state.view) {
    update(main, h("h1", {}, view.title), h("p", { class: "waiting" }, trouble || "Reading the ledger …"));
  } else main.setAttribute("aria-busy", "true"); // the numbers before stay until the new ones are there
  shown = state.view;
  update(lost, stale());
  update(foot, footer());
}

let shown;

// toMarked scrolls to the line of a robots.txt that the state names, once.
let marked = "";
function toMarked() {
  const line = main.querySelector(".line.marked");
  const name = line ? location.hash : "";
  if (name !== marked) line?.scrollIntoView({ block: "center" });
  marked = name;
}

// redraw draws soon, but never within drawing: to remove an element may cause an
// event that asks for it.
let asked = false;
function redraw() {
  if (asked) return;
  asked = true;
  queueMicrotask(() => {
    asked = false;
    draw();
  });
}

// stale tells, wherever the reader is, that the numbers are not those of now.
function stale() {
  if (!trouble) return null;
  return h("p", {}, `${trouble}.`, heard ? [" What you see is of ", h("time", { datetime: new Date(heard).toISOString() }, stamp(heard)), "."] : null);
}

function footer() {
  const as = heard ? new Date(heard) : undefined;
  return [
    h("p", {}, as ? ["As of ", h("time", { datetime: as.toISOString() }, stamp(as))] : "Connecting", head?.since ? `, counting since ${stamp(head.since)}` : "", ". ",
      h("button", { type: "button", class: "plainbutton", "aria-pressed": String(paused), click: () => { paused = !paused; draw(); if (!paused) refresh(); else plan(); } }, paused ? "Resume updates" : "Pause updates")),
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
addEventListener("changed", () => refresh()); // what the server knows
document.addEventListener("visibilitychange", () => (document.hidden ? clearTimeout(timer) : paused || refresh()));

// The skip link must not be taken for a state.
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
  main.scrollIntoView();
});

draw();
refresh();
