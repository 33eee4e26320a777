// Script of the page: zooming, dragging and pointing in the charts over time, which share one scale.
#pragma once

namespace dovetail::observe::detail {

inline constexpr const char* page_pointers = R"page(const redraw = () => { for (const c of all) c.draw(); };
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
)page";

}  // namespace dovetail::observe::detail
