// The elements of the page: headings, buttons, and the empty boxes that the script fills.
#pragma once

namespace dovetail::observe::detail {

inline constexpr const char* page_elements = R"page(<h1 id="title"></h1>
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

}  // namespace dovetail::observe::detail
