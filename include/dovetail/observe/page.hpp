// The fixed parts of the page that html.hpp writes: style, elements, and the script that draws the data `D`.
// Long: it is one program in another language.
#pragma once

namespace dovetail::observe::detail {

inline constexpr const char* page_head = R"page(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
)page";

inline constexpr const char* page_style =
    R"page(:root { color-scheme: light dark; --bg: #ffffff; --panel: #f5f6f8; --fg: #1b1f24; --muted: #5b6570; --grid: #dfe3e8;
  --stream0: #4c78c8; --stream1: #b0740a; --stream2: #4b9a61; --group: #8a63b8; --moved: #d1242f; --ontop: #ffffff; }
@media (prefers-color-scheme: dark) { :root:not([data-theme=light]) { --bg: #0f1216; --panel: #181c22; --fg: #e6e8eb; --muted: #9aa4ae;
    --grid: #2c333b;
  --stream0: #6f9be8; --stream1: #dba83a; --stream2: #63b37a; --group: #b28be0; --moved: #ff5d5d; --ontop: #0f1216; } }
:root[data-theme=dark] { --bg: #0f1216; --panel: #181c22; --fg: #e6e8eb; --muted: #9aa4ae; --grid: #2c333b;
  --stream0: #6f9be8; --stream1: #dba83a; --stream2: #63b37a; --group: #b28be0; --moved: #ff5d5d; --ontop: #0f1216; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1600px; padding: 12px 16px 40px; background: var(--bg); color: var(--fg);
    font: 14px/1.45 system-ui, sans-serif; }
h1 { font-size: 20px; margin: 4px 0 10px; overflow-wrap: anywhere; }
h2 { font-size: 15px; margin: 22px 0 6px; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(118px, 1fr)); gap: 8px; }
.card { background: var(--panel); border-radius: 8px; padding: 7px 10px; }
.card b { display: block; font-size: 16px; font-variant-numeric: tabular-nums; }
.card span, .hint { color: var(--muted); font-size: 12px; }
.bar { display: flex; flex-wrap: wrap; gap: 6px 14px; align-items: center; margin: 6px 0; }
.bar button, .bar select { font: inherit; font-size: 13px; color: var(--fg); background: var(--panel); border: 1px solid var(--grid);
    border-radius: 6px; padding: 3px 9px; min-height: 30px; max-width: 100%; }
.bar label { display: inline-flex; gap: 5px; align-items: center; font-size: 13px; min-height: 30px; }
.key { display: inline-flex; gap: 5px; align-items: center; font-size: 12px; color: var(--muted); }
.key i { width: 12px; height: 12px; border-radius: 3px; display: inline-block; }
canvas { display: block; width: 100%; background: var(--panel); border-radius: 8px; touch-action: pan-y; cursor: grab; }
#graph canvas { touch-action: none; }
.scroll { max-height: 75vh; overflow-y: auto; border-radius: 8px; }
.caption { font-size: 13px; font-weight: 600; margin: 10px 0 3px; }
#tip { position: fixed; pointer-events: none; display: none; background: var(--fg); color: var(--bg); padding: 6px 9px; border-radius: 6px;
    font-size: 12px; max-width: min(420px, 90vw); white-space: pre-line; overflow-wrap: anywhere; z-index: 9; }
pre { background: var(--panel); border-radius: 8px; padding: 10px; overflow-x: auto; font-size: 12px; line-height: 1.4; max-height: 60vh; }
)page";

inline constexpr const char* page_body = R"page(<h1 id="title"></h1>
<div class="cards" id="cards"></div>
<h2>Schedules</h2>
<div class="bar">
  <button id="in" aria-label="zoom in">+</button><button id="out" aria-label="zoom out">&minus;</button><button id="all">whole run</button>
  <label><input type="checkbox" id="waits" checked>waits</label><label><input type="checkbox" id="critical" checked>critical path</label>
  <span class="key"><i style="background:var(--stream0)"></i>compute</span>
  <span class="key"><i style="background:var(--stream1)"></i>communication</span>
  <span class="key"><i style="background:var(--stream2)"></i>copy, input</span>
  <span class="key"><i style="background:var(--group)"></i>NCCL group</span>
  <span class="key"><i style="background:var(--moved)"></i>moved</span>
  <button id="theme">light / dark</button>
</div>
<div class="hint">Drag to move, pinch or Ctrl + wheel to zoom, hover or tap for details. All charts share one scale.</div>
<div id="charts"></div>
<h2>Arena over time</h2>
<div class="bar"><select id="role" aria-label="role"></select></div>
<div id="memory"></div>
<h2>Graph by role</h2>
<div class="bar"><button id="gin" aria-label="zoom in">+</button><button id="gout" aria-label="zoom out">&minus;</button><button
    id="gfit">whole graph</button>
  <span class="hint">solid: data, dashed: re-use of memory, thick: between roles</span></div>
<div id="graph"></div>
<h2>Overlap</h2>
<pre id="report"></pre>
<div id="tip"></div>
)page";

inline constexpr const char* page_script = R"page("use strict";
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
class StreamChart {
  constructor(chart) {
    this.chart = chart;
    const caption = $("charts").appendChild(document.createElement("div"));
    caption.className = "caption"; caption.textContent = chart.title + ": " + chart.text;
    const box = $("charts").appendChild(document.createElement("div"));
    box.className = "scroll";
    this.canvas = box.appendChild(document.createElement("canvas"));
    this.canvas.setAttribute("role", "img"); this.canvas.setAttribute("aria-label", caption.textContent);
    this.height = top0;
    this.streams = chart.rows.some(r => r.slices.some(s => s[1] > 0));
    this.rows = chart.rows.map(r => {
      const used = streamNames.map((_, l) => r.slices.some(s => s[1] === l)), y = [];
      const top = this.height;
      this.height += rowTitle;
      used.forEach((u, l) => { y[l] = this.height; if (u) this.height += streamHeight; });
      this.height += 6;
      return {...r, used, y, top};
    });
    listen(this.canvas, this);
  }
  at(r, i) { const s = this.rows[r].slices[i]; return [s, this.rows[r].y[s[1]] + streamHeight / 2]; }
  draw() {
    const [g, width] = context(this.canvas, this.height), x = axis(g, width, this.height), x0 = gutter();
    this.x = x;
    for (const r of this.rows) {
      g.fillStyle = theme.fg; g.textAlign = "left"; g.font = "600 11px system-ui, sans-serif";
      g.fillText(fitted(g, r.name, width - 10), 6, r.top + rowTitle / 2);
      g.font = "11px system-ui, sans-serif"; g.fillStyle = theme.muted;
      r.used.forEach((u, l) => {
        const name = this.streams ? (x0 < 60 ? shortNames : streamNames)[l] : x0 < 60 ? "all" : "stream";
        if (u) g.fillText(fitted(g, name, x0 - 7), 6, r.y[l] + streamHeight / 2);
      });
    }
    g.save(); g.beginPath(); g.rect(x0, 0, width - x0, this.height); g.clip();
    const labels = [];  // over the arrows
    for (const r of this.rows) for (const s of r.slices) {
      if (s[3] < view.from || s[2] > view.to) continue;
      const a = x(s[2]), w = Math.max(x(s[3]) - a, 2), y = r.y[s[1]] + (streamHeight - bar) / 2;
      g.fillStyle = s[4] & 1 ? theme.moved : colour(D.ops[s[0]]);
      g.globalAlpha = chosen < 0 || chosen === s[0] ? 1 : 0.45;
      g.fillRect(a, y, Math.max(w - (w > 3 ? 1 : 0), 1), bar);
      if (w > 24) labels.push([D.ops[s[0]], Math.max(a, x0), a + w, y, g.globalAlpha]);
      if ((s[4] & 2) && $("critical").checked) { g.fillStyle = theme.fg; g.fillRect(a, y + bar - 3, w, 3); }
      g.globalAlpha = 1;
      if (chosen === s[0]) { g.strokeStyle = theme.fg; g.lineWidth = 2; g.strokeRect(a, y, w, bar); }
    }
    if ($("critical").checked) {
      g.strokeStyle = theme.fg; g.lineWidth = 1.5; g.beginPath();
      this.chart.path.forEach(([r, i], k) => {
        if (k === 0) return;
        const [p, py] = this.at(...this.chart.path[k - 1]), [q, qy] = this.at(r, i);
        if (py !== qy || q[2] > p[3]) {
          g.moveTo(x(p[3]) - 0.5, py + bar / 2 - 1.5);
          g.lineTo(x(p[3]) - 0.5, qy + bar / 2 - 1.5);
          g.lineTo(x(q[2]) + 0.5, qy + bar / 2 - 1.5);
        }
      });
      g.stroke();
    }
    if ($("waits").checked) this.arrows(g, x);
    for (const [op, from, to, y, alpha] of labels) {
      g.fillStyle = theme.ontop; g.globalAlpha = alpha;
      g.fillText(named(g, op, to - from - 4), from + 2, y + bar / 2 - 0.5);
    }
    g.globalAlpha = 1;
    g.restore();
  }
  arrows(g, x) {
    const list = [];
    this.rows.forEach((r, k) => { for (const [a, b, distance] of r.waits) {
      if (distance) continue;
      const [p, py] = this.at(k, a), [q, qy] = this.at(k, b);
      const inside = t => t >= view.from && t <= view.to;
      if (inside(p[3]) || inside(q[2])) list.push([x(p[3]), py, x(q[2]), qy, chosen === p[0] || chosen === q[0]]);
    } });
    for (const [ax, ay, bx, by, hit] of list) {
      g.globalAlpha = hit ? 1 : list.length > 600 ? 0.12 : list.length > 200 ? 0.25 : list.length > 60 ? 0.45 : 0.75;
      g.strokeStyle = g.fillStyle = theme.fg; g.lineWidth = hit ? 1.6 : 0.9;
      const down = by > ay ? 1 : -1, y1 = ay + down * bar / 2, y2 = by - down * bar / 2, m = Math.max(6, Math.abs(bx - ax) / 3);
      g.beginPath(); g.moveTo(ax, y1); g.bezierCurveTo(ax + (bx - ax < 12 ? 0 : m), y1, bx - (bx - ax < 12 ? 0 : m), y2, bx, y2);
      g.stroke();
      g.beginPath(); g.moveTo(bx, y2); g.lineTo(bx - 3, y2 - down * 5); g.lineTo(bx + 3, y2 - down * 5); g.fill();
    }
    g.globalAlpha = 1;
  }
  hover(px, py) {
    for (let k = 0; k < this.rows.length; ++k) {
      const r = this.rows[k];
      let best = -1, near = 4;
      r.slices.forEach((s, i) => {
        if (py < r.y[s[1]] || py > r.y[s[1]] + streamHeight) return;
        const a = this.x(s[2]), b = Math.max(this.x(s[3]), a + 1), d = px < a ? a - px : px > b ? px - b : 0;
        if (d < near) { near = d; best = i; }
      });
      if (best < 0) continue;
      const s = r.slices[best];
      const waits = r.waits.filter(w => w[1] === best)
        .map(w => D.ops[r.slices[w[0]][0]][0] + (w[2] ? " of " + w[2] + " run(s) before" : ""));
      const memory = this.chart === D.charts[0] ? "" : D.steps[r.role][best] || "";
      return [s[0], D.ops[s[0]][0] + "\n" + r.name + ", step " + best + ", " + (this.streams ? streamNames[s[1]] : "stream") + "\n" +
        us(s[2]) + " to " + us(s[3]) + " (" + us(s[3] - s[2]) + ")" +
        (s[4] & 1 ? "\nmoved against the sequential plan" : "") + (s[4] & 2 ? "\non the critical path" : "") +
        (waits.length ? "\nwaits for " + waits.join(", ") : "") + (memory ? "\n" + memory : "")];
    }
    return null;
  }
}
class Memory {
  constructor() { this.canvas = $("memory").appendChild(document.createElement("canvas")); this.height = 260; listen(this.canvas, this); }
  draw() {
    const m = D.memory[$("role").value || 0], [g, width] = context(this.canvas, this.height);
    const x = axis(g, width, this.height), x0 = gutter();
    const y = b => this.height - 6 - (b / Math.max(1, m.arena)) * (this.height - top0 - 10);
    this.x = x; this.y = y; this.m = m;
    g.fillStyle = theme.muted; g.textAlign = "left";
    for (const part of [0.5, 1]) {
      const at = Math.round(y(m.arena * part)) + 0.5;
      g.strokeStyle = part === 1 ? theme.fg : theme.grid; g.setLineDash(part === 1 ? [5, 4] : []);
      g.beginPath(); g.moveTo(x0, at); g.lineTo(width, at); g.stroke(); g.setLineDash([]);
      g.fillText(fitted(g, bytes(m.arena * part), x0 - 4), 4, Math.max(at, 24));
    }
    g.save(); g.beginPath(); g.rect(x0, 0, width - x0, this.height); g.clip();
    m.blocks.forEach((b, i) => {
      const a = x(b[3]), w = Math.max(x(b[4]) - a, 1), up = y(b[1] + b[2]), h = Math.max(y(b[1]) - up, 1);
      g.fillStyle = "hsl(" + (i * 137.5 % 360) + " 55% " + (i % 2 ? 74 : 68) + "%)";
      g.fillRect(a, up, Math.max(w - 1, 1), Math.max(h - 1, 1));
      if (w > 30 && h > 11) {
        const from = Math.max(a, x0);
        g.fillStyle = "#000";
        g.fillText(fitted(g, b[0], a + w - from - 5), from + 3, up + h / 2);
      }
    });
    g.restore();
    if (!m.blocks.length) { g.fillStyle = theme.muted; g.fillText("nothing in the arena", x0 + 8, this.height / 2); }
  }
  hover(px, py) {
    const b = this.m.blocks.find(b => px >= this.x(b[3]) && px <= Math.max(this.x(b[4]), this.x(b[3]) + 1) &&
      py <= this.y(b[1]) && py >= this.y(b[1] + b[2]));
    return b ? [-1, b[0] + ": " + bytes(b[2]) + " at " + b[1].toLocaleString("en") + "\n" + us(b[3]) + " to " + us(b[4])] : null;
  }
}
const redraw = () => { for (const c of all) c.draw(); };
const zoom = (factor, at) => {
  const span = Math.min(Math.max((view.to - view.from) * factor, longest / 1e5), longest), part = (at - view.from) / (view.to - view.from);
  view.from = Math.max(0, Math.min(at - span * part, longest - span)); view.to = view.from + span;
  redraw();
};
// Pointers on a chart of time: one drags, two pinch.
function listen(canvas, chart) {
  const down = new Map();
  const width = () => canvas.clientWidth - gutter() - 6, time = px => view.from + (px - gutter()) / width() * (view.to - view.from);
  canvas.addEventListener("pointerdown", e => {
    down.set(e.pointerId, e.offsetX);
    if (e.pointerType === "mouse") canvas.setPointerCapture(e.pointerId);
  });
  canvas.addEventListener("pointermove", e => {
    const before = down.get(e.pointerId);
    if (before !== undefined && down.size === 1) {
      const d = (before - e.offsetX) / width() * (view.to - view.from), span = view.to - view.from;
      view.from = Math.max(0, Math.min(view.from + d, longest - span)); view.to = view.from + span;
      down.set(e.pointerId, e.offsetX);
      if (d) redraw();
    } else if (before !== undefined && down.size === 2) {
      const other = [...down].find(([id]) => id !== e.pointerId)[1], was = Math.abs(before - other), is = Math.abs(e.offsetX - other);
      down.set(e.pointerId, e.offsetX);
      if (was > 5 && is > 5) zoom(was / is, time((e.offsetX + other) / 2));
    }
    point(e);
  });
  const point = e => {
    const hit = chart.hover(e.offsetX, e.offsetY), now = hit ? hit[0] : -1;
    if (now !== chosen) { chosen = now; redraw(); }
    tip(e, hit && hit[1]);
  };
  for (const end of ["pointerup", "pointercancel"])
    canvas.addEventListener(end, e => { down.delete(e.pointerId); if (end === "pointerup") point(e); });
  canvas.addEventListener("pointerleave", e => { down.delete(e.pointerId); tip(e, null); if (chosen >= 0) { chosen = -1; redraw(); } });
  canvas.addEventListener("wheel", e => {
    if (e.ctrlKey || e.metaKey) { e.preventDefault(); zoom(Math.exp(e.deltaY * 0.004), time(e.offsetX)); }
  }, {passive: false});
}
// The graph: a band for each role, steps in columns by their depth.
class Graph {
  constructor() {
    this.canvas = $("graph").appendChild(document.createElement("canvas"));
    const plan = D.charts[Math.min(1, D.charts.length - 1)], depth = plan.rows.map(r => r.slices.map(() => 0)), homes = D.ops.map(() => []);
    plan.rows.forEach((r, k) => r.slices.forEach((s, i) => homes[s[0]].push([k, i])));
    // Steps stand in an order that keeps every edge, so a few sweeps settle the depths across roles.
    const into = plan.rows.map(r => r.slices.map(() => []));
    for (const [r, a, b] of D.edges) if (into[r]) into[r][b].push(a);
    const place = plan.rows.flatMap((r, k) => r.slices.map((s, i) => [s[2], s[3], k, i]))
      .sort((p, q) => p[0] - q[0] || p[1] - q[1] || p[3] - q[3]);
    for (let sweep = 0, changed = true; changed && sweep < 50; ++sweep) {
      changed = false;
      for (const [, , k, i] of place) {
        let d = 0;
        for (const [h, j] of homes[plan.rows[k].slices[i][0]]) for (const a of into[h][j]) d = Math.max(d, depth[h][a] + 1);
        if (d > depth[k][i]) { depth[k][i] = d; changed = true; }
      }
    }
    this.nodes = []; this.index = plan.rows.map(() => []);
    let y = 10;
    this.bands = plan.rows.map((r, k) => {
      const filled = [], top = y;
      r.slices.forEach((s, i) => {
        const d = depth[k][i], n = filled[d] = (filled[d] || 0) + 1;
        this.index[k][i] = this.nodes.push({x: 12 + d * 150, y: top + 24 + (n - 1) * 34, s, k, i}) - 1;
      });
      y = top + 34 + Math.max(1, ...Array.from(filled, n => n || 0)) * 34;
      return {name: r.name, top, bottom: y - 6};
    });
    this.size = [12 + 150 * (1 + Math.max(0, ...depth.flat())), y];
    this.homes = homes; this.plan = plan;
    const c = this.canvas, down = new Map();
    c.addEventListener("pointerdown", e => {
      down.set(e.pointerId, [e.offsetX, e.offsetY]);
      if (e.pointerType === "mouse") c.setPointerCapture(e.pointerId);
    });
    c.addEventListener("pointermove", e => {
      const was = down.get(e.pointerId);
      if (was && down.size === 1) { this.ox += e.offsetX - was[0]; this.oy += e.offsetY - was[1]; }
      if (was && down.size === 2) {
        const o = [...down].find(([id]) => id !== e.pointerId)[1];
        const a = Math.hypot(was[0] - o[0], was[1] - o[1]), b = Math.hypot(e.offsetX - o[0], e.offsetY - o[1]);
        if (a > 5 && b > 5) this.zoom(b / a, o[0], o[1]);
      }
      if (was) { down.set(e.pointerId, [e.offsetX, e.offsetY]); this.draw(); }
      const n = this.nodes.find(n => {
        const px = n.x * this.s + this.ox, py = n.y * this.s + this.oy;
        return e.offsetX >= px && e.offsetX <= px + 132 * this.s && e.offsetY >= py && e.offsetY <= py + 24 * this.s;
      });
      const now = n ? n.s[0] : -1;
      if (now !== chosen) { chosen = now; redraw(); }
      tip(e, n && D.ops[n.s[0]][0] + "\n" + this.plan.rows[n.k].name + ", step " + n.i + "\n" + us(n.s[2]) + " to " + us(n.s[3]) +
          (n.s[4] & 1 ? "\nmoved against the sequential plan" : "") + "\n" + (D.charts.length > 1 && D.steps[n.k][n.i] || ""));
    });
    for (const end of ["pointerup", "pointercancel", "pointerleave"]) c.addEventListener(end, e => {
      down.delete(e.pointerId);
      if (end === "pointerleave") { tip(e, null); if (chosen >= 0) { chosen = -1; redraw(); } }
    });
    c.addEventListener("wheel", e => {
      if (e.ctrlKey || e.metaKey) { e.preventDefault(); this.zoom(Math.exp(-e.deltaY * 0.004), e.offsetX, e.offsetY); this.draw(); }
    }, {passive: false});
  }
  zoom(f, px, py) {
    const s = Math.min(Math.max(this.s * f, 0.01), 3);
    this.ox = px - (px - this.ox) * s / this.s; this.oy = py - (py - this.oy) * s / this.s;
    this.s = s;
  }
  fit(whole) {
    const w = this.canvas.clientWidth || 300, h = this.height = Math.max(160, Math.min(this.size[1], innerHeight * 0.7));
    this.s = Math.min(1, w / this.size[0], h / this.size[1]);
    if (!whole && this.s < 0.5) this.s = Math.min(1, Math.max(0.5, h / this.size[1]));
    this.ox = 0; this.oy = 0;
    this.height = Math.max(90, Math.min(h, this.size[1] * this.s + 8));
  }
  draw() {
    if (!this.s) this.fit(false);
    const [g, width] = context(this.canvas, this.height), s = this.s, px = x => x * s + this.ox, py = y => y * s + this.oy;
    for (const b of this.bands) {
      g.strokeStyle = theme.grid; g.lineWidth = 1; g.strokeRect(2, py(b.top), width - 4, (b.bottom - b.top) * s);
      g.fillStyle = theme.fg; g.font = "600 " + Math.min(13, Math.max(8, 12 * s)) + "px system-ui, sans-serif";
      if ((b.bottom - b.top) * s > 12 && s > 0.25) g.fillText(fitted(g, b.name, width - 16), 8, py(b.top) + 12 * s);
    }
    const edge = (a, b, style) => {
      const ax = px(a.x + 132), ay = py(a.y + 12), bx = px(b.x), by = py(b.y + 12);
      const hit = chosen >= 0 && (a.s[0] === chosen || b.s[0] === chosen);
      if (Math.max(ax, bx) < 0 || Math.min(ax, bx) > width) return;
      g.strokeStyle = style.color || (hit ? theme.fg : theme.muted); g.lineWidth = (style.thick || 1) * (hit ? 1.8 : 1);
      g.globalAlpha = hit ? 1 : 0.55; g.setLineDash(style.dash || []);
      const m = Math.max(8 * s, Math.abs(bx - ax) / 2);
      g.beginPath(); g.moveTo(ax, ay); g.bezierCurveTo(ax + m, ay, bx - m, by, bx, by); g.stroke();
      g.setLineDash([]); g.globalAlpha = 1;
    };
    for (const [r, a, b, kind] of D.edges) edge(this.nodes[this.index[r][a]], this.nodes[this.index[r][b]], kind ? {dash: [4, 3]} : {});
    g.lineWidth = 2;
    for (const h of this.homes) for (let k = 1; k < h.length; ++k) {
      const a = this.nodes[this.index[h[0][0]][h[0][1]]], b = this.nodes[this.index[h[k][0]][h[k][1]]];
      g.strokeStyle = theme.stream[1]; g.globalAlpha = chosen >= 0 && a.s[0] === chosen ? 1 : 0.6;
      g.beginPath(); g.moveTo(px(a.x + 66), py(a.y + 12)); g.lineTo(px(b.x + 66), py(b.y + 12)); g.stroke(); g.globalAlpha = 1;
    }
    g.font = Math.max(1, 11 * s) + "px system-ui, sans-serif";
    for (const n of this.nodes) {
      const x = px(n.x), y = py(n.y);
      if (x > width || x + 132 * s < 0) continue;
      g.fillStyle = n.s[4] & 1 ? theme.moved : colour(D.ops[n.s[0]]);
      g.globalAlpha = chosen < 0 || chosen === n.s[0] ? 1 : 0.5;
      g.fillRect(x, y, 132 * s, 24 * s); g.globalAlpha = 1;
      if ((n.s[4] & 2) && $("critical").checked) {
        g.strokeStyle = theme.fg; g.lineWidth = Math.max(1, 2.5 * s); g.strokeRect(x, y, 132 * s, 24 * s);
      }
      if (s > 0.45) { g.fillStyle = theme.ontop; g.fillText(named(g, D.ops[n.s[0]], 122 * s), x + 5 * s, y + 12 * s); }
    }
  }
}
readTheme();
const all = D.charts.map(c => new StreamChart(c));
D.memory.forEach((m, i) => {
  const o = $("role").appendChild(document.createElement("option"));
  o.value = i;
  o.textContent = m.name + ": " + bytes(m.arena);
});
$("role").value = D.memory.reduce((most, m, i) => m.arena > D.memory[most].arena ? i : most, 0);
all.push(new Memory());
const graph = new Graph();
all.push(graph);
$("role").onchange = redraw; $("waits").onchange = redraw; $("critical").onchange = redraw;
$("in").onclick = () => zoom(0.5, (view.from + view.to) / 2); $("out").onclick = () => zoom(2, (view.from + view.to) / 2);
$("all").onclick = () => { view.from = 0; view.to = longest; redraw(); };
const mid = f => { graph.zoom(f, graph.canvas.clientWidth / 2, graph.height / 2); graph.draw(); };
$("gin").onclick = () => mid(1.5); $("gout").onclick = () => mid(1 / 1.5); $("gfit").onclick = () => { graph.fit(true); graph.draw(); };
$("theme").onclick = () => {
  const wanted = document.documentElement.dataset.theme;
  const dark = wanted ? wanted === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "light" : "dark"; readTheme(); redraw();
};
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readTheme(); redraw(); });
addEventListener("resize", () => { graph.s = 0; redraw(); });
redraw();
document.documentElement.dataset.drawn = all.length;
)page";

}  // namespace dovetail::observe::detail
