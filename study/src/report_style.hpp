#pragma once

namespace hplcast::study {

/// The style sheet of reports. Colours are variables, so that the dark ones replace the light ones in one place; blue
/// and orange keep apart in every common kind of colour blindness.
inline constexpr const char* report_style = R"css(
:root { color-scheme: light dark; --page: #fbfbf9; --ink: #1b1b19; --soft: #5b5b56; --line: #dcdcd6; --card: #ffffff;
  --measured: #2a6fc9; --predicted: #d9621e; --band: #2a6fc91f; }
@media (prefers-color-scheme: dark) { :root { --page: #191918; --ink: #eeeeea; --soft: #adada6; --line: #3b3b38;
  --card: #222220; --measured: #5b9bea; --predicted: #f08a4b; --band: #5b9bea2b; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 68rem; padding: 1.2rem 1rem 3rem; background: var(--page); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .4rem; }
h2 { font-size: 1.15rem; margin: 2.2rem 0 .3rem; }
h3 { font-size: 1rem; margin: .2rem 0; }
p { margin: .3rem 0 .8rem; max-width: 46rem; }
.lead { font-size: 1.1rem; }
.note, figcaption { color: var(--soft); font-size: .9rem; }
.tiles, .plots { display: grid; gap: .8rem; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); }
.plots { grid-template-columns: repeat(auto-fill, minmax(min(100%, 22rem), 1fr)); }
.tile, figure { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .7rem .8rem; }
.tile b { display: block; font-size: 1.45rem; font-weight: 600; }
.tile span { color: var(--soft); font-size: .85rem; }
figure { margin: 0; }
figure.large { max-width: 32rem; }
svg { display: block; width: 100%; height: auto; }
svg text { fill: var(--soft); font-size: 13px; font-family: system-ui, sans-serif; }
.grid { stroke: var(--line); stroke-width: 1; fill: none; }
.axis, .range { stroke: var(--soft); stroke-width: 1; fill: none; }
.identity { stroke: var(--soft); stroke-width: 1.5; fill: none; }
.band { fill: var(--band); stroke: none; }
.measured { fill: var(--measured); stroke: var(--card); stroke-width: 1; }
.predicted { fill: var(--predicted); stroke: var(--card); stroke-width: 1; }
.predicted-line { fill: none; stroke: var(--predicted); stroke-width: 2; }
.measured-range { fill: none; stroke: var(--measured); stroke-width: 2; }
.legend { display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; margin: .2rem 0 .6rem; padding: 0; list-style: none;
  font-size: .9rem; }
.legend svg { display: inline-block; width: 1rem; height: 1rem; vertical-align: -.15rem; margin-right: .35rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .92rem; }
th, td { padding: .3rem .7rem; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { color: var(--soft); font-weight: 600; vertical-align: bottom; }
.sortable th { cursor: pointer; }
.sortable th[aria-sort=ascending]::after { content: " \2191"; }
.sortable th[aria-sort=descending]::after { content: " \2193"; }
td:last-child { white-space: normal; min-width: 6rem; }
pre { overflow-x: auto; background: var(--card); border: 1px solid var(--line); padding: .7rem; font-size: .85rem; }
code { overflow-wrap: anywhere; }
)css";

}  // namespace hplcast::study
