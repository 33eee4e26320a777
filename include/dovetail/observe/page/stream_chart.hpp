// Script of the page: a schedule as bars on the streams of each rank, with waits as arrows and the critical path.
#pragma once

namespace dovetail::observe::detail {

inline constexpr const char* page_stream_chart = R"page(class StreamChart {
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
      const memory = this.chart === D.charts[D.plan - 1] ? "" : D.steps[r.role][best] || "";
      return [s[0], D.ops[s[0]][0] + "\n" + r.name + ", step " + best + ", " + (this.streams ? streamNames[s[1]] : "stream") + "\n" +
        us(s[2]) + " to " + us(s[3]) + " (" + us(s[3] - s[2]) + ")" +
        (s[4] & 1 ? "\nmoved against the sequential plan" : "") + (s[4] & 2 ? "\non the critical path" : "") +
        (waits.length ? "\nwaits for " + waits.join(", ") : "") + (memory ? "\n" + memory : "")];
    }
    return null;
  }
}
)page";

}  // namespace dovetail::observe::detail
