// Script of the page: makes the charts, connects the buttons to them, and draws for the first time.
#pragma once

namespace dovetail::observe::detail {

inline constexpr const char* page_controls = R"page(readTheme();
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
