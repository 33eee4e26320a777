// Script of the page: the arena of a rank over time, a rectangle for the lifetime of each buffer.
#pragma once

namespace dovetail::observe::detail {

inline constexpr const char* page_memory_chart = R"page(class Memory {
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
)page";

}  // namespace dovetail::observe::detail
