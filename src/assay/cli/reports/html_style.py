"""The style of the check report: each verdict has its own kind of underline besides its colour, for print."""

from typing import Final

from assay.reporting import BASE

CHECK: Final = (
    BASE
    + """
.decision{border:1px solid var(--line);border-left:.35rem solid var(--soft);border-radius:.4rem;background:var(--panel);
padding:1rem 1.2rem}
.decision.emit{border-left-color:var(--good)}.decision.revise{border-left-color:var(--doubt)}
.decision.block,.decision.escalate{border-left-color:var(--bad)}
.decision h1{display:flex;flex-wrap:wrap;gap:.2rem .8rem;align-items:baseline}
.decision ul{margin:.5rem 0 0;padding-left:1.2rem}
.instead{margin:.8rem 0 0;padding:.6rem .9rem;border:1px dashed var(--line);border-radius:.3rem;white-space:pre-wrap;
overflow-wrap:anywhere}
.facts{display:flex;flex-wrap:wrap;gap:.3rem 1.6rem;margin:.7rem 0 0}
.facts div{display:flex;gap:.4rem}.facts dt{color:var(--soft)}.facts dd{margin:0;font-variant-numeric:tabular-nums}
.columns{display:grid;grid-template-columns:minmax(0,1fr);gap:0 2.5rem}
@media(min-width:60rem){.columns{grid-template-columns:minmax(0,5fr) minmax(0,6fr)}
.left{position:sticky;top:1rem;align-self:start;max-height:calc(100vh - 2rem);overflow:auto}}
.answer{white-space:pre-wrap;overflow-wrap:anywhere;line-height:1.9;font-size:1.03rem}
.piece{unicode-bidi:isolate;color:inherit;text-decoration-line:underline;text-decoration-thickness:2px;
text-underline-offset:.28em;border-radius:.15rem;padding:.08em 0}
.piece:hover{background:var(--panel)}
.supported{text-decoration-style:solid;text-decoration-color:var(--good);text-decoration-thickness:1px}
.contradicted{text-decoration-style:wavy;text-decoration-color:var(--bad);background:var(--bad-wash)}
.unsupported{text-decoration-style:dashed;text-decoration-color:var(--doubt);background:var(--doubt-wash)}
.unchecked{text-decoration-style:double;text-decoration-color:var(--bad)}
.not_checkable{text-decoration-style:dotted;text-decoration-color:var(--soft);text-decoration-thickness:1px}
.here{font-weight:700}
.sign{font-size:.72em;font-weight:600;line-height:0;vertical-align:super;margin-left:.12em;text-decoration:none;
unicode-bidi:isolate;white-space:nowrap}
.legend{display:flex;flex-wrap:wrap;gap:.3rem 1.1rem;margin-top:1rem;font-size:.8125rem;color:var(--soft)}
.legend .piece{background:none}
.claim{border:1px solid var(--line);border-radius:.4rem;padding:.75rem 1rem;margin:0 0 .8rem;scroll-margin-top:1rem;
text-decoration:none;background:var(--page);break-inside:avoid}
.claim:target{border-color:var(--accent);box-shadow:0 0 0 2px var(--accent)}
.claim header{display:flex;flex-wrap:wrap;gap:.1rem .8rem;align-items:baseline;font-size:.875rem}
.claim header b{font-weight:650}.claim header .back{margin-left:auto}
.claim .said{margin:.3rem 0;font-weight:500;overflow-wrap:anywhere}
.claim ul{margin:.4rem 0;padding-left:1.1rem}
.claim .suggest{list-style:none;padding-left:0}
del{color:var(--bad);text-decoration:line-through;text-decoration-thickness:1px}
ins{color:var(--good);text-decoration:underline;text-decoration-thickness:1px;text-underline-offset:.2em}
.diff{border:1px solid var(--line);border-radius:.4rem;padding:.6rem .9rem;background:var(--panel);font-size:.9375rem;
line-height:1.6}
ol{padding-left:1.4rem}ol li{margin:.25rem 0;overflow-wrap:anywhere}td p{margin:0 0 .2rem;overflow-wrap:anywhere}
q{quotes:"“" "”"}
figure{margin:.6rem 0 0;padding-left:.8rem;border-left:2px solid var(--line)}
figcaption{font-size:.8125rem;color:var(--soft);overflow-wrap:anywhere}
blockquote{margin:.15rem 0 0;white-space:pre-wrap;overflow-wrap:anywhere;font-size:.9375rem;color:var(--soft)}
mark{background:none;color:var(--ink);font-weight:600;border-bottom:2px solid var(--accent)}
code{font:.85em ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;color:var(--soft);overflow-wrap:anywhere}
.bar{vertical-align:middle;margin-left:.4rem}.bar .track{fill:var(--line)}.bar .fill{fill:var(--accent)}
@media(prefers-reduced-motion:no-preference){html{scroll-behavior:smooth}}
@media print{.left{position:static;max-height:none;overflow:visible}.columns{display:block}.back{display:none}
.contradicted,.unsupported{background:none}}
"""
)
"""The style sheet of one report and of the index of several."""
