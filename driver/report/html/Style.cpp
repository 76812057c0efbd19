// SPDX-License-Identifier: Apache-2.0
#include "driver/report/html/Style.h"

namespace kopt::html {

// Each text colour has a contrast of at least 4.5 to the backgrounds on which it is used.
constexpr Literal kStyleText = R"css(
:root{--bg:#fff;--ink:#1a1d21;--muted:#59616b;--line:#d8dce1;--panel:#f5f6f8;--accent:#0b5cad;
--good:#0a6b3d;--bad:#a8281f;--warn:#855000;--params:#0b5cad;--transform:#b04a00;--llm:#6b3fa0;--other:#3f4a54;
--add:#e3f5e8;--addmark:#aee0bd;--del:#fdeaea;--delmark:#f3bcbc;--before:#8a929b;--after:#0b5cad;--win:#eaf2fb;--grid:#e6e9ec}
@media screen and (prefers-color-scheme:dark){:root{--bg:#14171a;--ink:#e4e7ea;--muted:#a1a9b2;--line:#353b42;
--panel:#1c2024;--accent:#6db3f2;--good:#5fcf95;--bad:#ff8f86;--warn:#edb85f;--params:#6db3f2;--transform:#f2a65e;
--llm:#c3a0f5;--other:#b8c0c8;--add:#12301f;--addmark:#1f5c38;--del:#381a1a;--delmark:#702e2e;--before:#8a929b;
--after:#6db3f2;--win:#16283a;--grid:#272c32}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--bg);color:var(--ink);font:14px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;
font-variant-numeric:tabular-nums}
main{max-width:1180px;margin:0 auto;padding:24px 28px 64px}
a{color:var(--accent)}
h1,h2,h3{line-height:1.2;font-weight:600}
h1{font-size:24px;margin:2px 0;overflow-wrap:anywhere}
h2{font-size:17px;margin:0 0 10px;padding-top:14px;border-top:1px solid var(--line)}
h3{font-size:14px;margin:18px 0 6px}
section{margin:30px 0 0}
p{margin:0 0 8px;max-width:95ch}p,li{overflow-wrap:anywhere}
.note,.small{color:var(--muted)}
.small{font-size:12px;max-width:150ch}
code,pre,.code{font-family:ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:12px}
.over{color:var(--muted);font-size:12px;letter-spacing:.02em;overflow-wrap:anywhere}
.head{display:grid;grid-template-columns:auto 1fr;gap:4px 28px;align-items:center;margin:16px 0 6px}
.big{font-size:44px;line-height:1;font-weight:650;letter-spacing:-.02em;white-space:nowrap}
.big small{font-size:18px;font-weight:500;letter-spacing:0;color:var(--muted)}
.big.none{font-size:28px}
.gain-text{color:var(--good)}
.says{font-size:15px;margin:0}
.facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(172px,1fr));margin:16px 0 0;border:1px solid var(--line);border-width:1px 0 0 1px}
.facts>div{border:1px solid var(--line);border-width:0 1px 1px 0;padding:8px 12px;min-width:0}
dt{color:var(--muted);font-size:12px}
dd{margin:1px 0 0;overflow-wrap:anywhere}
dd b{font-weight:600}
nav{margin:14px 0 0;font-size:13px;line-height:1.9}
nav a{margin-right:14px;white-space:nowrap}
.scroll{overflow-x:auto;margin:0 0 10px}
table{border-collapse:collapse;width:100%;font-size:13px}
th,td{text-align:left;vertical-align:top;padding:4px 12px 4px 0;border-bottom:1px solid var(--line)}
th{font-weight:600;color:var(--muted);font-size:12px;vertical-align:bottom;border-bottom-color:var(--muted)}
tbody th{color:var(--ink);font-size:13px;font-weight:500;vertical-align:top;border-bottom-color:var(--line)}
.n{text-align:right;white-space:nowrap}
.nw{white-space:nowrap}
.wide{overflow-wrap:anywhere;min-width:16ch}
table.narrow{width:auto}
tr.sum td,tr.sum th{border-top:1px solid var(--muted);font-weight:600}
details{margin:0 0 8px}summary{cursor:pointer;color:var(--muted);font-size:12px}
tr.winner td,tr.winner th{background:var(--win)}
tr.winner th:first-child,tr.winner td:first-child{box-shadow:inset 3px 0 0 var(--accent)}
#candidates td:first-child,#candidates th:first-child{padding-left:8px}
.tag{display:inline-block;border:1px solid currentColor;border-radius:3px;padding:0 5px;font-size:11px;line-height:16px;white-space:nowrap}
.faster,.passed,.gone,.confirmed,.full{color:var(--good)}
.wrong,.failed,.high,.dropped{color:var(--bad)}
.doubt,.medium,.not-run,.partial,.unconfirmed,.modelled{color:var(--warn)}
.calm,.low,.not-applicable{color:var(--muted)}
.proposer{white-space:nowrap}.proposer svg{vertical-align:-1px;margin-right:5px}
svg{display:block}.proposer svg,svg.strip{display:inline-block;vertical-align:middle}
svg text{font-size:11px;fill:var(--muted);font-family:inherit}
svg text.label{fill:var(--ink)}
.strip .one{stroke:var(--muted);stroke-dasharray:2 2}
.interval{stroke-width:2}.end{stroke-width:1;fill:none}.gain{stroke:var(--good);fill:var(--good)}.loss{stroke:var(--bad);fill:var(--bad)}.open{stroke:var(--muted);fill:var(--muted)}
.estimate.hollow{fill:var(--bg);stroke-width:1.5}
.params{fill:var(--params);stroke:var(--params)}.transform{fill:var(--transform);stroke:var(--transform)}
.llm{fill:var(--llm);stroke:var(--llm)}.other{fill:var(--other);stroke:var(--other)}
.mark{stroke-width:1.3}.mark.hollow{fill:var(--bg)}.chart .mark{fill-opacity:.8}.chart .mark.hollow{fill-opacity:1}
.chart{width:100%;height:auto;max-width:620px}
.chart .grid{stroke:var(--grid)}.chart .axis-line{stroke:var(--muted)}.chart .baseline{stroke:var(--muted);stroke-dasharray:3 3}
.chart .best{fill:none;stroke:var(--ink);stroke-width:1.5}
.chart .whisker{stroke-width:1;stroke-opacity:.55}
.chart .accepted{fill:none;stroke:var(--ink);stroke-width:1.4}
.chart .roof{fill:none;stroke:var(--ink);stroke-width:1.6}.chart .extent{stroke:var(--muted);stroke-dasharray:2 3}
.chart .band{fill:var(--panel)}
.before{fill:var(--before);stroke:var(--before)}.after{fill:var(--after);stroke:var(--after)}
.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(420px,1fr));gap:8px 28px}
.pair>*{min-width:0}
figure{margin:0 0 10px}figcaption{font-size:12px;color:var(--muted);margin:2px 0 4px}
.legend{display:flex;flex-wrap:wrap;gap:2px 16px;font-size:12px;color:var(--muted);margin:0 0 8px;padding:0;list-style:none}
ul.plain{padding-left:18px;margin:0 0 8px}ul.plain li{margin:2px 0;max-width:105ch;overflow-wrap:anywhere}
.diff{border:1px solid var(--line);width:100%}
.diff td{border:0;padding:0 8px;white-space:pre-wrap;overflow-wrap:anywhere;font-family:ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:12px;line-height:1.5}
.diff .line{color:var(--muted);text-align:right;width:1%;white-space:nowrap;user-select:none}
.diff .sign{width:1%;padding:0 2px}
.diff .added{background:var(--add)}.diff .removed{background:var(--del)}
.diff .added b{font-weight:inherit;background:var(--addmark)}.diff .removed b{font-weight:inherit;background:var(--delmark)}
.diff .where td{background:var(--panel);color:var(--muted)}
.story{list-style:none;margin:0;padding:0}.story>li{display:grid;grid-template-columns:84px 1fr;gap:0 14px;padding:5px 0;border-bottom:1px solid var(--line)}
.story .when{color:var(--muted);text-align:right;white-space:nowrap;font-size:12px;padding-top:1px}
.story ul{margin:2px 0 0;padding-left:16px;font-size:12px;color:var(--muted)}.story li li{overflow-wrap:anywhere}
pre{background:var(--panel);border:1px solid var(--line);padding:10px 12px;margin:0 0 8px;white-space:pre-wrap;overflow-wrap:anywhere}
th button{font:inherit;color:inherit;background:none;border:0;padding:0;cursor:pointer;text-align:inherit}
th button::after{content:"\2195";opacity:.5;padding-left:3px}
th[aria-sort=ascending] button::after{content:"\2191";opacity:1}th[aria-sort=descending] button::after{content:"\2193";opacity:1}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
@media (max-width:640px){main{padding:16px 14px 40px}.head{grid-template-columns:1fr}.pair{grid-template-columns:1fr}}
@media print{@page{margin:14mm 12mm}body{font-size:10pt}main{max-width:none;padding:0}nav,th button::after{display:none}
*{print-color-adjust:exact;-webkit-print-color-adjust:exact}h2,h3{break-after:avoid}figure,tr,.facts{break-inside:avoid}
.scroll{overflow:visible}table{font-size:8.5pt}thead{display:table-header-group}.pair{grid-template-columns:1fr 1fr}}
)css";

constexpr Literal kScriptText = R"js(
document.querySelectorAll('table.sortable').forEach(function (table) {
  var heads = table.tHead.rows[0].cells, body = table.tBodies[0];
  function key(row, column) {
    var cell = row.cells[column], text = cell.getAttribute('data-v') || cell.textContent, number = parseFloat(text);
    return isNaN(number) ? text.trim().toLowerCase() : number;
  }
  Array.prototype.forEach.call(heads, function (head, column) {
    if (!head.textContent.trim() || head.querySelector('svg')) return;
    var button = document.createElement('button');
    button.type = 'button';
    while (head.firstChild) button.appendChild(head.firstChild);
    head.appendChild(button);
    button.addEventListener('click', function () {
      var up = head.getAttribute('aria-sort') !== 'ascending';
      Array.prototype.forEach.call(heads, function (other) { other.removeAttribute('aria-sort'); });
      head.setAttribute('aria-sort', up ? 'ascending' : 'descending');
      Array.prototype.slice.call(body.rows).sort(function (a, b) {
        var x = key(a, column), y = key(b, column);
        if (typeof x !== typeof y) return typeof x === 'number' ? -1 : 1;
        return (x < y ? -1 : x > y ? 1 : 0) * (up ? 1 : -1);
      }).forEach(function (row) { body.appendChild(row); });
    });
  });
});
)js";

const Literal kStyle = kStyleText, kScript = kScriptText;
const char *const kScriptHash = "sha256-miKoOfl7vJJbU5e86dj1FXUkcKSmjDhk+fmSjTP72fo=";

} // namespace kopt::html
