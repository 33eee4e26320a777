// Script of the page: what all charts draw with. Units, colours, names that fit, the tooltip, the time axis. Fills the cards and the report
// from the data `D`.
#pragma once

namespace dovetail::observe::detail {

inline constexpr const char* page_drawing = R"page("use strict";
const $ = id => document.getElementById(id);
const us = ps => ps < 1e9 ? (ps / 1e6).toLocaleString("en", {maximumFractionDigits: ps < 1e8 ? 3 : 1}) + " us" :
    (ps / 1e9).toLocaleString("en", {maximumFractionDigits: 3}) + " ms";
const bytes = n => {
  let unit = 0;
  for (; n >= 1024 && unit < 4; ++unit) n /= 1024;
  return n.toFixed(n % 1 && n < 100 ? 1 : 0) + [" B", " KiB", " MiB", " GiB", " TiB"][unit];
};
const streamNames = ["compute", "comm", "copy"], shortNames = ["comp", "comm", "copy"];
const longest = Math.max(1, ...D.charts.map(c => c.length));
const view = {from: 0, to: longest};
let theme, chosen = -1;
const readTheme = () => {
  const s = getComputedStyle(document.documentElement), v = n => s.getPropertyValue(n).trim();
  theme = {bg: v("--bg"), fg: v("--fg"), muted: v("--muted"), grid: v("--grid"), moved: v("--moved"), ontop: v("--ontop"),
      panel: v("--panel"), stream: [v("--stream0"), v("--stream1"), v("--stream2")],
      group: v("--group")};
};
$("title").textContent = D.title;
for (const [name, value] of D.cards) {
  const c = $("cards").appendChild(document.createElement("div")), b = document.createElement("b"), s = document.createElement("span");
  c.className = "card"; b.textContent = value; s.textContent = name; c.append(b, s);
}
$("report").textContent = D.report;
const tip = (e, text) => {
  const t = $("tip");
  t.style.display = text ? "block" : "none";
  if (!text) return;
  t.textContent = text;
  const box = t.getBoundingClientRect();
  t.style.left = Math.max(4, Math.min(e.clientX + 14, innerWidth - box.width - 6)) + "px";
  t.style.top = (e.clientY + 18 + box.height > innerHeight ? Math.max(4, e.clientY - box.height - 10) : e.clientY + 18) + "px";
};
const context = (canvas, height) => {
  const width = canvas.clientWidth || 300, d = window.devicePixelRatio || 1;
  canvas.style.height = height + "px";
  if (canvas.width !== Math.round(width * d) || canvas.height !== Math.round(height * d)) {
    canvas.width = Math.round(width * d);
    canvas.height = Math.round(height * d);
  }
  const g = canvas.getContext("2d");
  g.setTransform(d, 0, 0, d, 0, 0); g.clearRect(0, 0, width, height); g.font = "11px system-ui, sans-serif"; g.textBaseline = "middle";
  return [g, width];
};
// Shortened where that is needed, in front of the indices that tell one of a family from the next.
const fitted = (g, text, room) => {
  if (g.measureText(text).width <= room) return text;
  const at = text.lastIndexOf("<"), tail = at > 0 ? text.slice(at) : "", head = at > 0 ? at : text.length;
  for (let n = head - 1; n > 0; --n)
    if (g.measureText(text.slice(0, n) + "\u2026" + tail).width <= room) return text.slice(0, n) + "\u2026" + tail;
  return g.measureText(tail).width <= room ? tail : "";
};
// By stream, in shades for the blocks of a split; NCCL groups, and so buckets, have a colour of their own.
const colour = op => {
  if (op[7]) return theme.group;
  const base = theme.stream[op[2] ? 1 : op[1] === 1 ? 0 : op[1]];
  return op[6] > 1 ? "color-mix(in srgb, " + base + " " + Math.round(100 - 45 * op[5] / (op[6] - 1)) + "%, " + theme.bg + ")" : base;
};
// The longest of an operation's names that has room: all of it, without template arguments, the statement alone.
const named = (g, op, room) => fitted(g, [op[0], op[3]].find(n => g.measureText(n).width <= room) || op[4] || op[0], room);
// Time axis: a line at each round number, the label left of it in the band on top.
const gutter = () => innerWidth < 600 ? 52 : 64;
const axis = (g, width, height) => {
  const x0 = gutter(), span = view.to - view.from, scale = (width - x0 - 6) / span, x = t => x0 + (t - view.from) * scale;
  let step = 10 ** Math.floor(Math.log10(span * 90 / (width - x0)));
  for (const m of [1, 2, 5, 10]) if (step * m * scale >= 80) { step *= m; break; }
  g.strokeStyle = theme.grid; g.fillStyle = theme.muted; g.lineWidth = 1; g.textAlign = "left";
  for (let t = Math.ceil(view.from / step) * step; t <= view.to; t += step) {
    const at = Math.round(x(t)) + 0.5;
    g.beginPath(); g.moveTo(at, 0); g.lineTo(at, height); g.stroke();
    if (at + 4 < width - 30) g.fillText(step >= 1e9 ? t / 1e9 + " ms" : (t / 1e6).toLocaleString("en", {maximumFractionDigits: 6}) + " us",
        at + 3, 8);
  }
  return x;
};
const streamHeight = 22, bar = 16, top0 = 18, rowTitle = 17;
)page";

}  // namespace dovetail::observe::detail
