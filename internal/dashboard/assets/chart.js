// Charts in SVG. Positions are percentages of the width, so that charts adapt to the layout without
// style attributes or redrawing.

import { h, s } from "./dom.js";
import { clock, count, day, hourOf, minuteOf, plural, siteName, stamp, uncounted, utcDay, verdictName, zone } from "./format.js";

// order is the order of the layers, from the bottom.
export const order = ["allowed", "exempt", "unknown", "stale", "disallowed"];

const height = 190;

// chosen maps the ID of a chart to the time of the selected step.
const chosen = new Map();

// chart shows requests over time, stacked by verdict. It begins at the start of counting. marks are
// changes of robots.txt files and modes, and link returns the target of a mark.
export function chart(id, head, series, marks, redraw, link) {
  const before = uncounted(head, series.step_seconds, series.points.length);
  const points = series.points.slice(before);
  const top = nice(Math.max(1, ...points.map((p) => p.requests)));
  const y = (n) => height - (n / top) * height;
  const width = 100 / points.length;
  const bar = Math.max(width * 0.78, width - 0.6);
  const at = chosen.get(id);
  const index = points.findIndex((p) => p.at === at);
  const shown = index >= 0 ? points[index] : undefined;
  const choose = (i) => {
    const point = points[Math.min(points.length - 1, Math.max(0, i))];
    if (chosen.get(id) === point?.at) return;
    if (point) chosen.set(id, point.at);
    else chosen.delete(id);
    redraw();
  };
  const leave = () => { if (chosen.delete(id)) redraw(); };
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((f) => f * top).filter((n) => Number.isInteger(n));
  const labels = axis(points, series.step_seconds);
  const start = Date.parse(points[0]?.at);
  const within = (m) => (Date.parse(m.at) - start) / (series.step_seconds * 1000); // in steps
  const shownMarks = marks.filter((m) => within(m) >= 0 && within(m) <= points.length);
  const marksOf = (point) => shownMarks.filter((m) => points[Math.floor(within(m))] === point);

  return h("figure", { class: "chart", key: id },
    flags(groupMarks(shownMarks.slice(-maxFlags), (m) => within(m) * width), link),
    h("div", { class: "plot" },
      s("svg", { class: "yaxis", height: height + 26, "aria-hidden": "true" },
        ticks.map((n) => s("text", { x: "100%", y: y(n) + 8, dx: -8, dy: 4, "text-anchor": "end" }, count(n)))),
      h("div", {
        class: "bars", role: "slider", tabindex: "0", "aria-label": "Requests over time; select a step with the arrow keys",
        "aria-valuemin": 0, "aria-valuemax": points.length - 1, "aria-valuenow": index < 0 ? points.length - 1 : index,
        "aria-valuetext": [readout(shown ?? points[points.length - 1], series.step_seconds), ...marksOf(shown ?? points[points.length - 1]).map(change)].join("; "),
        pointermove: (event) => {
          const box = event.currentTarget.getBoundingClientRect();
          choose(Math.floor(((event.clientX - box.left) / box.width) * points.length));
        },
        pointerleave: (event) => { if (document.activeElement !== event.currentTarget) leave(); },
        blur: leave,
        keydown: (event) => {
          const from = index < 0 ? points.length - 1 : index;
          const next = { ArrowLeft: from - 1, ArrowDown: from - 1, ArrowRight: from + 1, ArrowUp: from + 1, Home: 0, End: points.length - 1,
            PageUp: from - 6, PageDown: from + 6 }[event.key];
          if (event.key === "Escape") leave();
          if (next === undefined) return;
          event.preventDefault();
          choose(next);
        },
      },
      s("svg", { height: height + 26, width: "100%", "aria-hidden": "true" },
        s("svg", { y: 8, height, width: "100%", overflow: "visible" },
          ticks.map((n) => s("line", { class: n ? "grid" : "baseline", x1: "0", x2: "100%", y1: y(n), y2: y(n) })),
          shown ? s("rect", { class: "chosen", x: `${index * width}%`, width: `${width}%`, y: -8, height: height + 8 }) : null,
          points.flatMap((p, i) => {
            let base = 0;
            return order.filter((verdict) => p[verdict]).map((verdict) => {
              base += p[verdict];
              return s("rect", { class: verdict, x: `${i * width + (width - bar) / 2}%`, width: `${bar}%`, y: y(base), height: Math.max((p[verdict] / top) * height, 0.75) });
            });
          }),
          shownMarks.slice(-maxFlags).map((m) => s("line", { class: "markline", x1: `${within(m) * width}%`, x2: `${within(m) * width}%`, y1: -8, y2: height }))),
        labels.map(({ i, text, anchor }) => s("text", { x: `${(i + 0.5) * width}%`, y: height + 24, "text-anchor": anchor }, text))))),
    h("figcaption", { class: "readout" }, shown
      ? [h("b", {}, span(shown, series.step_seconds)), ` ${count(shown.requests)} requests`,
        order.filter((verdict) => shown[verdict]).reverse().map((verdict) => h("span", { class: "key" }, swatch(verdict), `${verdictName(verdict)} ${count(shown[verdict])}`)), marksOf(shown).map((m) => h("span", {}, change(m)))]
      : order.filter((verdict) => points.some((p) => p[verdict])).reverse().map((verdict) => h("span", { class: "key" }, swatch(verdict), verdictName(verdict)))),
    before ? h("p", { class: "quiet begins" }, `Counting began ${stamp(head.counted_from)}.`) : null,
    shownMarks.length ? h("details", { class: "changes", key: "changes" }, h("summary", {}, plural(shownMarks.length, "change", "changes")),
      h("ul", {}, shownMarks.map((m) => h("li", { key: `${m.at} ${m.site} ${m.kind}` }, h("time", { datetime: m.at }, stamp(m.at)), " ", h("a", { href: link(m) }, change(m)))))) : null,
    h("details", { class: "astable", key: "table" }, h("summary", {}, "Show as a table"),
      h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Requests over time as a table" },
        h("table", { class: "plain" }, h("caption", { class: "unseen" }, "Requests over time by verdict"),
          h("thead", {}, h("tr", {}, [`time (${series.step_seconds >= 86400 ? "UTC" : zone()})`, "requests", ...order.map(verdictName), "blocked"].map((name, i) => h("th", { scope: "col", class: i ? "number" : undefined }, name)))),
          h("tbody", {}, [...points].reverse().map((p) => h("tr", { key: p.at }, h("th", { scope: "row" }, span(p, series.step_seconds)),
            [p.requests, ...order.map((verdict) => p[verdict]), p.blocked].map((n) => h("td", { class: "number" }, count(n))))))))));
}

const maxFlags = 24; // in the chart; the list has all changes

// change describes a mark.
const change = (m) => (m.kind === "mode" ? `mode of ${siteName(m.site)} changed from ${m.from} to ${m.to}` : `robots.txt of ${siteName(m.site)} ${m.to ? "changed" : "is empty or missing"}`);

// Width of a flag in percent of the chart.
const phone = matchMedia("(max-width: 560px)");
const flagWidth = () => (phone.matches ? 8 : 3);

// groupMarks groups marks whose flags would overlap. A group has the position of its first mark.
function groupMarks(marks, at) {
  const groups = [];
  for (const m of [...marks].sort((a, b) => at(a) - at(b))) {
    const last = groups.at(-1);
    if (last && at(m) - last.at < flagWidth()) last.marks.push(m);
    else groups.push({ at: at(m), marks: [m] });
  }
  return groups;
}

// flags returns the flags above the chart. A flag shows its label on hover and on focus. A flag of
// several changes shows their number and opens the list.
const flags = (groups, link) => (groups.length ? h("div", { class: "flags", role: "group", "aria-label": "Changes" },
  s("svg", { height: 24, width: "100%" }, groups.map(({ at, marks }) => {
    const [m] = marks;
    const text = marks.length === 1 ? change(m) : `${count(marks.length)} changes, last: ${change(marks.at(-1))}`;
    const open = (event) => {
      if (marks.length === 1) return;
      event.preventDefault();
      const list = event.currentTarget.closest(".chart").querySelector(".changes");
      list.open = true;
      list.querySelector("summary").focus();
    };
    return s("a", { class: `flag ${marks.length > 1 ? "several" : m.kind}`, key: `${m.at} ${m.site} ${m.kind}`, href: link(m), click: open, "aria-label": `${stamp(m.at)}: ${text}` },
      s("svg", { x: `${at}%`, overflow: "visible" }, s("rect", { class: "target", x: -12, width: 24, height: 24 }),
        marks.length > 1 ? [s("circle", { class: "sign", cx: 0, cy: 14, r: 8 }), s("text", { class: "number", x: 0, y: 18, "text-anchor": "middle", "aria-hidden": "true" }, marks.length)]
          : m.kind === "mode" ? s("rect", { class: "sign", x: -5, y: 9, width: 10, height: 10 }) : s("path", { class: "sign", d: "M0 6l6.5 7.5L0 21l-6.5-7.5z" }),
        s("text", { class: "label", x: at > 50 ? -14 : 14, y: 18, "text-anchor": at > 50 ? "end" : "start", "aria-hidden": "true" }, text)));
  }))) : null);

export const swatch = (verdict) => s("svg", { class: "swatch", width: 11, height: 11, "aria-hidden": "true" }, s("rect", { class: verdict, width: 11, height: 11, rx: 2.5 }));

// sparkline shows all requests and the violations over time.
export function sparkline(head, whole) {
  const before = uncounted(head, whole.step_seconds, whole.requests.length);
  const line = { requests: whole.requests.slice(before), disallowed: whole.disallowed.slice(before) };
  const n = line.requests.length;
  const top = Math.max(1, ...line.requests);
  const sum = (list) => list.reduce((a, b) => a + b, 0);
  const total = sum(line.disallowed);
  // One path for all bars, because a table has many sparklines.
  const bars = (verdict, of) => s("path", { class: verdict, d: line.requests.map((_, i) => {
    const tall = of(i) && Math.max((of(i) / top) * 25, 1.5);
    return tall ? `M${i + 0.1} ${(26 - tall).toFixed(2)}h.8V26h-.8z` : "";
  }).join("") });
  return s("svg", { class: "spark", width: 112, height: 26, viewBox: `0 0 ${n} 26`, preserveAspectRatio: "none", role: "img",
    "aria-label": `${count(sum(line.requests))} requests over time, ${plural(total, "violation", "violations")}` },
  bars("allowed", (i) => line.requests[i]), bars("disallowed", (i) => line.disallowed[i]),
  s("rect", { class: "floor", x: 0, width: n, y: 25.5, height: 0.5 }));
}

// meter shows a percentage as a bar.
export const meter = (percent, kind) => s("svg", { class: "meter", width: 56, height: 6, "aria-hidden": "true" },
  s("rect", { class: "track", width: "100%", height: 6, rx: 3 }), s("rect", { class: kind, width: `${percent}%`, height: 6, rx: 3 }));

// nice rounds up to a number that is divisible by 4.
function nice(n) {
  if (n <= 4) return 4;
  const size = 10 ** Math.floor(Math.log10(n));
  for (const f of [1, 1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8, 10]) {
    const top = f * size;
    if (top >= n && top % 4 === 0) return top;
  }
  return Math.ceil(n / 4) * 4;
}

// axis returns the labels of the time axis.
function axis(points, step) {
  const labels = [];
  points.forEach((p, i) => {
    const t = new Date(p.at);
    let text;
    if (step === 60) text = (minuteOf(t) % (points.length > 90 ? 30 : 10) === 0 || points.length < 10) && clock(t);
    else if (step === 3600 && points.length <= 48) text = (hourOf(t) % 4 === 0 || points.length < 4) && (hourOf(t) === 0 ? day(t) : clock(t));
    else if (step === 3600) text = hourOf(t) === 0 && (points.length < 200 || t.getUTCDate() % 2 === 0) && day(t);
    else text = (points.length - 1 - i) % (points.length > 45 ? 14 : points.length > 7 ? 7 : 1) === 0 && utcDay(t);
    if (text) labels.push({ i, text, anchor: i < points.length * 0.03 ? "start" : i > points.length * 0.97 ? "end" : "middle" });
  });
  return labels;
}

// span returns the name of a step.
function span(p, step) {
  const from = new Date(p.at);
  if (step >= 86400) return utcDay(from); // days are counted in UTC
  const to = new Date(from.getTime() + step * 1000);
  return step === 60 ? clock(from) : `${day(from)}, ${clock(from)} to ${clock(to)}`;
}

const readout = (p, step) => p ? `${span(p, step)}: ${count(p.requests)} requests, ${plural(p.disallowed, "violation", "violations")}, ${count(p.blocked)} blocked` : "no requests";
