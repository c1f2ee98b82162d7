// The filters above every view.

import { h } from "./dom.js";
import { className, fromField, identityName, period, siteName, toField, windows, zone } from "./format.js";
import { go, href } from "./state.js";

let unfolded = false; // whether the filters are open on a narrow screen
let choosing = false; // whether the fields for a range of time are open

export function choices(state, head, redraw) {
  const active = ["site", "class", "identity"].filter((name) => state[name]);
  return [
    h("button", { type: "button", key: "fold", class: "plainbutton fold", "aria-expanded": String(unfolded), "aria-controls": "choices", click: () => { unfolded = !unfolded; redraw(); } },
      active.length ? `Filters (${active.length})` : "Filters"),
    h("div", { key: "choices", id: "choices", class: unfolded ? "choices open" : "choices" },
      select(state, head, "Site", "site", "all sites", "sites", siteName),
      select(state, head, "Class", "class", "all classes", "classes", className),
      select(state, head, "Identity", "identity", "all identities", "identities", identityName),
      h("div", { class: "windows", role: "group", "aria-label": "Times in", key: "zone" },
        link("UTC", href(state, { zone: "" }), !state.zone), link("local time", href(state, { zone: "local" }), state.zone === "local")),
      active.length ? h("a", { key: "all", class: "all", href: href(state, { site: "", class: "", identity: "" }) }, "Clear filters") : null),
    h("div", { class: "windows times", role: "group", "aria-label": "Time", key: "window" },
      Object.entries(windows).map(([name, text]) => link(name, href(state, { window: name, from: "", to: "" }), !state.from && state.window === name, text)),
      h("button", { type: "button", key: "range", class: state.from ? "chosen" : "", "aria-expanded": String(choosing), "aria-controls": "range", click: () => { choosing = !choosing; redraw(); } }, "range")),
    choosing ? range(state, head, redraw) : null,
  ];
}

const link = (text, to, current, title) => h("a", { key: text, href: to, "aria-current": current ? "true" : undefined, title }, text);

function select(state, head, label, parameter, all, name, text) {
  const known = head?.[name] ?? [];
  const chosen = state[parameter];
  const values = chosen && !known.includes(chosen) ? [...known, chosen] : known;
  return h("label", { key: parameter, class: "filter" }, h("span", {}, label),
    h("select", { name: parameter, change: (event) => go(state, { [parameter]: event.currentTarget.value, rows: "", lines: "", version: "", line: "" }) },
      h("option", { value: "" }, all), values.map((value) => h("option", { value, selected: chosen === value }, text(value)))));
}

// range returns the fields for a range of time. Updates of the page preserve their content.
function range(state, head, redraw) {
  const field = (label, name, iso) => h("label", { class: "filter" }, h("span", {}, label),
    h("input", { type: "datetime-local", name, value: iso ? toField(iso) : "", "data-typed": true }));
  const show = (event) => {
    const box = event.currentTarget.parentNode;
    const [from, to] = ["from", "to"].map((name) => fromField(box.querySelector(`[name=${name}]`).value));
    if (!from || (to && to <= from)) {
      box.querySelector("[role=alert]").textContent = from ? "The end must be after the start." : "Enter a start time.";
      return;
    }
    choosing = false;
    go(state, { from, to, rows: "" });
    redraw();
  };
  return h("div", { id: "range", key: `range ${state.zone ?? ""}`, class: "range", role: "group", "aria-label": "Range of time" },
    field(`From (${zone()})`, "from", state.from || head?.from), field("To (empty: now)", "to", state.to),
    h("button", { type: "button", class: "plainbutton", click: show }, "Show"),
    head?.filter.window === "range" ? h("span", { class: "quiet" }, `Shown: ${period(head)}`) : null,
    h("span", { role: "alert", class: "trouble" }));
}
