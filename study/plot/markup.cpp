#include "study/plot/markup.hpp"

namespace hplcast::study {

namespace {

/// A colour of reports: a variable, so that the dark ones replace the light ones in one place.
struct Colour {
  const char* name;
  const char* light;
  const char* dark;
};

/// Blue and orange keep apart in every common kind of colour blindness; so do the colours of series (Okabe and Ito
/// 2008, darkened to be read on white), which differ in their marks, too.
constexpr Colour palette[] = {
    {"page", "#fbfbf9", "#191918"},      {"ink", "#1b1b19", "#eeeeea"},    {"soft", "#5b5b56", "#adada6"},
    {"line", "#dcdcd6", "#3b3b38"},      {"card", "#ffffff", "#222220"},   {"measured", "#2a6fc9", "#5b9bea"},
    {"predicted", "#d9621e", "#f08a4b"}, {"band", "#cddff4", "#2b3b50"},   {"s1", "#d9621e", "#f08a4b"},
    {"s2", "#2a6fc9", "#5b9bea"},        {"s3", "#00805c", "#2fb38c"},     {"s4", "#b0467f", "#dd86b4"},
    {"s5", "#8a6d00", "#d3b13a"},        {"s6", "#4a4a4a", "#c9c9c4"},     {"s7", "#0b7f95", "#4fc3da"},
    {"s8", "#8c4a2f", "#cf8b6e"},        {"inside", "#9cc9ae", "#3d6b50"}, {"untested", "#d3d3cc", "#454541"}};

/// Style of the elements of plots; also in pictures of their own.
constexpr const char* plot_style = R"css(
svg text { fill: var(--soft); font-size: 13px; font-family: system-ui, "DejaVu Sans", sans-serif; }
svg text.on-cell { fill: var(--ink); } svg text.on-bar { fill: var(--card); }
svg text.name { fill: var(--ink); stroke: var(--card); stroke-width: 4; paint-order: stroke; }
.grid { stroke: var(--line); stroke-width: 1; fill: none; }
.axis, .range { stroke: var(--soft); stroke-width: 1; fill: none; }
.identity { stroke: var(--soft); stroke-width: 1.5; fill: none; }
.band { fill: var(--band); stroke: none; }
.cell { fill: var(--measured); stroke: none; }
.measured { fill: var(--measured); stroke: var(--card); stroke-width: 1; }
.predicted { fill: var(--predicted); stroke: var(--card); stroke-width: 1; }
.predicted-line { fill: none; stroke: var(--predicted); stroke-width: 2; }
.measured-range { fill: none; stroke: var(--measured); stroke-width: 2; }
.s1 { fill: var(--s1); } .s2 { fill: var(--s2); } .s3 { fill: var(--s3); }
.s4 { fill: var(--s4); } .s5 { fill: var(--s5); } .s6 { fill: var(--s6); }
.s7 { fill: var(--s7); } .s8 { fill: var(--s8); }
.s1, .s2, .s3, .s4, .s5, .s6, .s7, .s8 { stroke: var(--card); stroke-width: 1; }
.s1-line { stroke: var(--s1); } .s2-line { stroke: var(--s2); } .s3-line { stroke: var(--s3); }
.s4-line { stroke: var(--s4); } .s5-line { stroke: var(--s5); } .s6-line { stroke: var(--s6); }
.s7-line { stroke: var(--s7); } .s8-line { stroke: var(--s8); }
.s1-line, .s2-line, .s3-line, .s4-line, .s5-line, .s6-line, .s7-line, .s8-line { fill: none; stroke-width: 2; }
.dots { fill: none; stroke-width: 4; stroke-linecap: round; } .dots.large { stroke-width: 6; }
.change { fill: none; stroke: var(--soft); stroke-width: 1.2; stroke-dasharray: 4 3; }
.inside { fill: var(--inside); stroke: var(--inside); } .untested { fill: var(--untested); stroke: var(--untested); }
.below { fill: var(--measured); stroke: var(--measured); } .above { fill: var(--predicted); stroke: var(--predicted); }
.outlier { fill: none; stroke: var(--soft); stroke-width: 1.5; }
.expected { fill: none; stroke: var(--ink); stroke-width: 2.5; }
.verdict { fill: none; stroke-width: 11; }
.flag { stroke-width: 9; stroke-linecap: round; } .outlier.flag { stroke-width: 7; stroke-linecap: square; }
.shade-1 { stroke-opacity: .25; } .shade-2 { stroke-opacity: .45; } .shade-3 { stroke-opacity: .65; }
)css";

/// Style of the rest of a page.
constexpr const char* page_style = R"css(
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 68rem; padding: 1.2rem 1rem 3rem; background: var(--page); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .4rem; }
h2 { font-size: 1.15rem; margin: 2.2rem 0 .3rem; }
h3 { font-size: 1rem; margin: .2rem 0; }
p { margin: .3rem 0 .8rem; max-width: 46rem; }
.lead { font-size: 1.1rem; }
.note, figcaption { color: var(--soft); font-size: .9rem; }
.findings { margin: .3rem 0 .8rem; padding-left: 1.2rem; max-width: 46rem; }
.tiles, .plots { display: grid; gap: .8rem; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); }
.plots { grid-template-columns: repeat(auto-fill, minmax(min(100%, 22rem), 1fr)); }
.tile, figure { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .7rem .8rem; }
.tile b { display: block; font-size: 1.45rem; font-weight: 600; }
.tile span { color: var(--soft); font-size: .85rem; }
figure { margin: 0; min-width: 0; }
svg { display: block; width: 100%; height: auto; }
img { max-width: 100%; height: auto; background: #ffffff; }
.legend { display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; margin: .2rem 0 .6rem; padding: 0; list-style: none;
  font-size: .9rem; }
.legend svg { display: inline-block; width: 1rem; height: 1rem; vertical-align: -.15rem; margin-right: .35rem; }
.wide { overflow-x: auto; }
@media (min-width: 70rem) { .wide { width: max-content; min-width: 100%; max-width: calc(50vw + 32rem); } }
.stretched svg { overflow: visible; } .stretched path { vector-effect: non-scaling-stroke; }
.stretched svg text { font-size: 12px; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .92rem; }
th, td { padding: .3rem .6rem; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { color: var(--soft); font-weight: 600; vertical-align: bottom; white-space: normal; }
.words td:first-child, .words td:last-child { white-space: normal; }
.words th:first-child, .words td:first-child, .words th:last-child, .words td:last-child { text-align: left; }
.texts th, .texts td { text-align: left; vertical-align: top; }
.texts td:last-child { white-space: normal; min-width: 10rem; }
a, svg a text { color: var(--measured); fill: var(--measured); }
nav { color: var(--soft); font-size: .9rem; }
.one .plots { grid-template-columns: minmax(0, 48rem); }
.offers td { white-space: normal; text-align: left; vertical-align: top; } .offers th { text-align: left; }
.sources td:last-child { overflow-wrap: anywhere; }
.bad { font-weight: 600; }
details { margin: .6rem 0; }
svg.time { max-width: 54rem; user-select: none; touch-action: pan-y; cursor: crosshair; } .time g g path { vector-effect: non-scaling-stroke; }
.band { fill: var(--soft); fill-opacity: .25; }
.long > svg, .long > img { min-width: 34rem; max-width: none; margin: .3rem 0; }
.sortable th { cursor: pointer; }
.sortable th[aria-sort=ascending]::after { content: " \2191"; }
.sortable th[aria-sort=descending]::after { content: " \2193"; }
pre { overflow-x: auto; background: var(--card); border: 1px solid var(--line); padding: .7rem; font-size: .85rem; }
code { overflow-wrap: anywhere; }
@media (max-width: 30rem) { th, td { padding: .3rem .35rem; } table { font-size: .85rem; } .tile, figure { padding: .6rem .5rem; }
  svg text { font-size: 15px; } svg.time text { font-size: 18px; } .between { display: none; }
  .sortable td, .texts td { white-space: normal; } .texts td { overflow-wrap: anywhere; }
  .texts td:first-child { white-space: nowrap; } .texts td:last-child { min-width: 0; }
  .stacked thead, .stacked td:empty { display: none; } .stacked tr, .stacked td { display: block; white-space: normal; }
  .stacked td { border: 0; padding: 0; text-align: left; } .stacked tr { border-bottom: 1px solid var(--line); padding: .4rem 0; }
  .numbers td { display: inline-block; margin-right: .8rem; }
  .stacked td::before { content: attr(data-h) ": "; color: var(--soft); } }
@media print { @page { size: A4; margin: 14mm; } body { max-width: none; padding: 0; font-size: 10pt; background: none; }
  h1 { font-size: 15pt; } .lead { font-size: 11pt; } p, .findings { max-width: none; } h2, h3 { break-after: avoid; }
  figure, tr, li { break-inside: avoid; } .one .plots { grid-template-columns: minmax(0, 30rem); } }
)css";

/// Sorts a table by the column whose header is clicked, or chosen with the keyboard.
constexpr const char* sort_script = R"js(
for (const head of document.querySelectorAll("table.sortable th")) {
  head.tabIndex = 0;
  head.title = "sort";
  const sort = () => {
    const table = head.closest("table"), column = [...head.parentNode.children].indexOf(head);
    const up = head.getAttribute("aria-sort") !== "ascending";
    for (const other of head.parentNode.children) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const key = row => row.children[column].textContent;
    const number = text => parseFloat(text.replace(/,/g, ""));
    const rows = [...table.tBodies[0].rows].sort((a, b) => {
      const x = number(key(a)), y = number(key(b));
      const order = isNaN(x) || isNaN(y) ? key(a).localeCompare(key(b)) : x - y;
      return up ? order : -order;
    });
    table.tBodies[0].append(...rows);
  };
  head.addEventListener("click", sort);
  head.addEventListener("keydown", event => { if (event.key === "Enter") sort(); });
}
)js";

/// Figures of one axis of time: their marks are stretched, and their ticks drawn anew.
constexpr const char* time_script = R"js(
const plots = [...document.querySelectorAll("svg.time")].map(svg => {
  const d = svg.dataset, one = {svg, left: +d.left, right: +d.right, top: +d.top, bottom: +d.bottom};
  const isTick = node => node.tagName === "text" ? +node.getAttribute("y") === one.bottom + 17
    : node.getAttribute("class") === "grid" && /^M(\S+) \S+L\1 /.test(node.getAttribute("d"));
  [...svg.children].filter(node => ["text", "path"].includes(node.tagName) && isTick(node)).forEach(node => node.remove());
  return one;
});
const full = plots.length ? [+plots[0].svg.dataset.min, +plots[0].svg.dataset.max] : [0, 1];
let view = full.slice();
const add = (svg, name, attributes, text) => {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const key in attributes) node.setAttribute(key, attributes[key]);
  if (text) node.textContent = text;
  svg.insertBefore(node, svg.querySelector("g"));
  return node;
};
const draw = () => {
  const raw = (view[1] - view[0]) / 10, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map(f => f * power).find(f => f >= raw * 0.99);
  const decimals = Math.max(0, Math.ceil(-Math.log10(step) - 1e-9));
  for (const one of plots) {
    const width = one.right - one.left, k = (full[1] - full[0]) / (view[1] - view[0]);
    const x = at => one.left + (at - view[0]) / (view[1] - view[0]) * width;
    const shift = one.left - k * (one.left + (view[0] - full[0]) / (full[1] - full[0]) * width);
    one.svg.querySelector("g > g").setAttribute("transform", `translate(${shift} 0) scale(${k} 1)`);
    one.svg.querySelectorAll(".tick").forEach(node => node.remove());
    for (let i = Math.ceil(view[0] / step - 1e-9); i * step <= view[1] + 1e-9 * step; ++i) {
      const at = x(i * step);
      add(one.svg, "path", {class: "grid tick", d: `M${at} ${one.top}V${one.bottom}`});
      add(one.svg, "text", {class: "tick", x: at, y: one.bottom + 17, "text-anchor": "middle"}, (i * step).toFixed(decimals));
    }
  }
};
for (const one of plots) {
  let from = null, band = null;
  const place = event => {
    const box = one.svg.getBoundingClientRect(), scale = one.svg.viewBox.baseVal.width / box.width;
    return Math.min(one.right, Math.max(one.left, (event.clientX - box.left) * scale));
  };
  const time = x => view[0] + (x - one.left) / (one.right - one.left) * (view[1] - view[0]);
  one.svg.addEventListener("pointerdown", event => {
    from = place(event);
    band = add(one.svg, "rect", {class: "band", y: one.top, height: one.bottom - one.top, x: from, width: 0});
    one.svg.setPointerCapture(event.pointerId);
  });
  one.svg.addEventListener("pointermove", event => {
    if (!band) return;
    const to = place(event);
    band.setAttribute("x", Math.min(from, to));
    band.setAttribute("width", Math.abs(to - from));
  });
  const end = event => {
    if (!band) return;
    band.remove();
    band = null;
    const span = [from, place(event)].sort((a, b) => a - b).map(time);
    if (event.type === "pointerup" && span[1] - span[0] > (view[1] - view[0]) / 100) { view = span; draw(); }
  };
  one.svg.addEventListener("pointerup", end);
  one.svg.addEventListener("pointercancel", end);
  one.svg.addEventListener("dblclick", () => { view = full.slice(); draw(); });
}
if (plots.length) draw();
)js";

/// `labels`: of the cells, on a phone.
std::string table_row(const std::vector<std::string>& cells, const std::string& tag, bool is_html,
                      const std::vector<std::string>& labels = {}) {
  std::string html = "<tr>";
  for (std::size_t i = 0; i < cells.size(); ++i)
    html += "<" + tag + (labels.empty() ? "" : attribute("data-h", labels.at(i))) + ">" +
            (is_html ? cells[i] : core::xml_escaped(cells[i])) + "</" + tag + ">";
  return html + "</tr>\n";
}

}  // namespace

std::string coordinate(double value, int decimals) {
  return core::printed("%.*f", decimals, value);
}

std::string attribute(const std::string& name, const std::string& value) {
  return " " + name + "=\"" + core::xml_escaped(value) + "\"";
}

std::string link(const std::string& target, const std::string& text) {
  return "<a" + attribute("href", target) + ">" + core::xml_escaped(text) + "</a>";
}

std::string section(const std::string& title, const std::string& note) {
  return "<h2>" + title + "</h2>\n" + (note.empty() ? "" : "<p class=\"note\">" + note + "</p>\n");
}

std::string list(const std::vector<std::string>& items, const std::string& css_class) {
  if (items.empty()) return "";
  std::string html = "<ul" + attribute("class", css_class) + ">\n";
  for (const std::string& item : items) html += "<li>" + item + "</li>\n";
  return html + "</ul>\n";
}

HtmlTable::HtmlTable(const std::vector<std::string>& header, const std::string& classes)
    : classes_(classes), head_(table_row(header, "th", false)) {
  if (classes.find("stacked") != std::string::npos) labels_ = header;
}

void HtmlTable::add(const std::vector<std::string>& texts) {
  body_ += table_row(texts, "td", false, labels_);
}

void HtmlTable::add_html(const std::vector<std::string>& cells) {
  body_ += table_row(cells, "td", true, labels_);
}

std::string HtmlTable::html() const {
  return "<div class=\"wide\"><table" + attribute("class", classes_) + ">\n<thead>" + head_ + "</thead><tbody>\n" +
         body_ + "</tbody></table></div>\n";
}

std::string style_of_pictures() {
  std::string style = plot_style;
  for (const Colour& colour : palette)
    style = core::all_replaced(std::move(style), std::string("var(--") + colour.name + ")", colour.light);
  return style;
}

std::string html_page(const std::string& title, const std::string& content, Script script) {
  const bool scripted = script != Script::none;
  std::string light, dark;
  for (const Colour& colour : palette) {
    light += std::string("--") + colour.name + ":" + colour.light + ";";
    dark += std::string("--") + colour.name + ":" + colour.dark + ";";
  }
  const std::string name = core::xml_escaped(title);
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; " +
         std::string(scripted ? "script-src 'unsafe-inline'; " : "") +
         "img-src data:\">\n<link rel=\"icon\" href=\"data:,\">\n<title>" + name +
         "</title>\n<style>\n:root { color-scheme: light dark; " + light +
         " }\n@media (prefers-color-scheme: dark) { :root { " + dark + " } }" + plot_style + page_style +
         "</style>\n</head>\n<body>\n<h1>" + name + "</h1>\n" + content +
         (scripted
              ? std::string("<script>") + (script == Script::sorts_tables ? sort_script : time_script) + "</script>\n"
              : "") +
         "</body>\n</html>\n";
}

}  // namespace hplcast::study
