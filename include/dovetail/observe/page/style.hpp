// The style sheet of the page: colours for light and dark, and the layout.
#pragma once

namespace dovetail::observe::detail {

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

}  // namespace dovetail::observe::detail
