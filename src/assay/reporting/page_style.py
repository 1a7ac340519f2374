"""The style sheet that all self-contained reports share: one accent colour, system fonts, light, dark and print."""

from typing import Final

BASE: Final = """
:root{--ink:#1b1f24;--soft:#5b6470;--line:#d9dee4;--page:#fff;--panel:#f6f7f9;--accent:#1f5fa8;
--good:#1c6b3c;--bad:#a61b1b;--bad-wash:#fdeceb;--doubt:#8a5300;--doubt-wash:#fff5e0;--good-wash:#eef7f1}
@media(prefers-color-scheme:dark){:root{--ink:#e4e7eb;--soft:#9aa4b0;--line:#333a43;--page:#14171b;--panel:#1c2127;
--accent:#7db4f0;--good:#7fd1a0;--bad:#ff938a;--bad-wash:#3a1f1e;--doubt:#f0bf6c;--doubt-wash:#352a16;
--good-wash:#18291f}}
*{box-sizing:border-box}
html{font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;color:var(--ink);
background:var(--page);-webkit-text-size-adjust:100%}
body{margin:0 auto;max-width:80rem;padding:1.5rem clamp(1rem,3vw,2.5rem) 3rem}
h1,h2,h3{line-height:1.25;margin:0}h1{font-size:1.35rem;font-weight:600}
h2{font-size:1.05rem;font-weight:600;margin:2.2rem 0 .7rem}h3{font-size:1rem;font-weight:600}
p{margin:.35rem 0}a{color:var(--accent)}
h1,h2,h3,p,li,summary,figcaption,dd,blockquote{overflow-wrap:anywhere}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
.soft{color:var(--soft)}.small{font-size:.875rem}.num{font-variant-numeric:tabular-nums;text-align:right}
.good{color:var(--good)}.bad{color:var(--bad)}.doubt{color:var(--doubt)}
.brand{display:flex;gap:.6rem;align-items:baseline;color:var(--soft);font-size:.875rem;margin-bottom:1.2rem}
.brand b{color:var(--accent);font-weight:650;letter-spacing:.01em}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.9rem}
th,td{padding:.4rem .7rem .4rem 0;border-bottom:1px solid var(--line);text-align:left;vertical-align:top}
th{font-weight:600;color:var(--soft);white-space:nowrap}th.num,td.num{text-align:right}
footer{margin-top:2.5rem;padding-top:.8rem;border-top:1px solid var(--line);color:var(--soft);font-size:.8125rem;
overflow-wrap:anywhere}
@media print{:root{--ink:#000;--soft:#444;--line:#999;--page:#fff;--panel:#fff;--accent:#000}
html{font-size:11pt}body{max-width:none;padding:0}a{color:inherit}}
"""
"""Fonts, colours, headings and tables; each report adds its own rules after it."""
