// The state of the page is the fragment of its URL: a view and its parameters.

export const views = ["now", "crawlers", "violations", "robots", "impact"];

// filters are the parameters of all views: the filter of requests, the window and the time zone.
const filters = ["site", "class", "identity", "window", "from", "to", "zone"];

// current returns the state in the URL.
export function current() {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?", 2);
  const state = { view: views.includes(path) ? path : "now", window: "24h" };
  for (const [name, value] of new URLSearchParams(query ?? "")) state[name] = value;
  state.view = views.includes(path) ? path : "now";
  if (!["1h", "24h", "7d", "30d"].includes(state.window)) state.window = "24h";
  if (state.zone !== "local") delete state.zone;
  return state;
}

// href returns a link to a changed state. A change of the view keeps only the filters.
export function href(state, change) {
  const next = { ...state, ...change };
  const params = new URLSearchParams();
  const kept = change.view && change.view !== state.view ? filters.concat(Object.keys(change)) : Object.keys(next);
  for (const name of kept.filter((name, i) => kept.indexOf(name) === i).sort()) {
    const value = next[name];
    if (name === "view" || !value || (name === "window" && value === "24h")) continue;
    params.set(name, value);
  }
  const query = params.toString();
  return `#/${next.view}${query ? `?${query}` : ""}`;
}

// go changes the state. replace adds no entry to the browser's history.
export function go(state, change, replace = false) {
  const url = href(state, change);
  if (url === location.hash) return;
  if (replace) {
    history.replaceState(null, "", url);
    dispatchEvent(new HashChangeEvent("hashchange"));
  } else location.hash = url;
}

// dataURL returns the URL of the data for a state.
export function dataURL(file, state, more = {}) {
  const params = new URLSearchParams();
  for (const name of filters) if (state[name] && name !== "zone" && !(name === "window" && state.from)) params.set(name, state[name]);
  for (const [name, value] of Object.entries(more)) if (value) params.set(name, value);
  return `${file}?${params}`;
}
