// Script of the page: the graph by role, with its edges.
#pragma once

namespace dovetail::observe::detail {

inline constexpr const char* page_graph_chart = R"page(// The graph: a band for each role, steps in columns by their depth.
class Graph {
  constructor() {
    this.canvas = $("graph").appendChild(document.createElement("canvas"));
    const plan = D.charts[D.plan], depth = plan.rows.map(r => r.slices.map(() => 0)), homes = D.ops.map(() => []);
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
          (n.s[4] & 1 ? "\nmoved against the sequential plan" : "") + "\n" + (D.steps[n.k][n.i] || ""));
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
)page";

}  // namespace dovetail::observe::detail
