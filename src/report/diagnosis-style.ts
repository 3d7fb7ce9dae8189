/**
 * Style of the diagnosis beyond the page's own. Lacking and shown differ in colour (orange, blue: told apart with any
 * colour vision), in shape (full square, ring) and in lightness, so that they survive grey print.
 */
export const DIAGNOSIS_STYLE = `
:root{--lack:#c2410c;--show:#0b6bcb}
@media (prefers-color-scheme:dark){:root{--lack:#fb923c;--show:#5aa9f8}}
.diag{overflow-wrap:anywhere}
.diag h2{margin-top:56px}.diag h2+.lead{margin-bottom:16px}
.diag button{font:inherit;color:inherit;background:none;border:0;padding:0;cursor:pointer;text-align:left}
.no{display:inline-grid;place-items:center;flex:none;width:1.6em;height:1.6em;border-radius:50%;background:var(--c);color:var(--card);font-size:.78rem;font-weight:700;line-height:1;font-variant-numeric:tabular-nums;text-decoration:none}
.no.rest{background:none;border:1.5px solid var(--soft);color:var(--soft);font-weight:600}
.verdict{font-size:clamp(1.45rem,1.1rem + 1.5vw,2rem);line-height:1.2;letter-spacing:-.016em;font-weight:700;margin:0 0 10px;text-wrap:balance}
.account{font-size:1.02rem;margin:0 0 16px}
.parts{display:flex;height:34px;border-radius:8px;overflow:hidden;gap:2px;margin:0 0 8px}
.parts span{display:grid;place-items:center;min-width:3px;background:var(--c);color:var(--card);font-size:.85rem;font-weight:700}
.parts .several{background:repeating-linear-gradient(135deg,var(--ink) 0 5px,color-mix(in srgb,var(--ink) 72%,var(--card)) 5px 10px)}
.parts .unexplained{background:var(--line);color:var(--ink);font-weight:600}
.keys{display:flex;flex-wrap:wrap;gap:4px 18px;list-style:none;margin:0 0 22px;padding:0;font-size:.86rem;color:var(--soft)}
.keys li{display:flex;align-items:center;gap:7px}
.keys i{width:1.1em;height:1.1em;border-radius:4px;background:var(--c);flex:none}
.keys .several{background:repeating-linear-gradient(135deg,var(--ink) 0 3px,color-mix(in srgb,var(--ink) 72%,var(--card)) 3px 6px)}
.keys .unexplained{background:var(--line)}
.first{display:grid;gap:18px 32px;grid-template-columns:minmax(0,1.7fr) minmax(0,1fr);align-items:start}
.first>.card{margin:0}
.first .todo h2{margin:0 0 10px;font-size:.8rem;text-transform:uppercase;letter-spacing:.07em;color:var(--soft);font-weight:650}
.finding{display:grid;grid-template-columns:auto minmax(0,1fr) auto;gap:0 12px;padding:13px 0;border-top:1px solid var(--line)}
.finding .no{margin-top:.1em}
.finding h3{margin:0;font-size:1.06rem;line-height:1.35}.finding h3 a{color:inherit;text-decoration:none}.finding h3 a:hover{text-decoration:underline}
.finding p{grid-column:2/-1;margin:4px 0 0;font-size:.93rem}.finding p.soft{font-size:.86rem}
.sure{display:inline-flex;align-items:center;gap:6px;font-size:.84rem;font-weight:600;white-space:nowrap}
.sure i{display:inline-flex;gap:3px}.sure i b{width:8px;height:8px;border-radius:50%;border:1.5px solid currentColor}.sure i b.on{background:currentColor}
.sure.firm{color:var(--good)}.sure.likely{color:var(--accent)}.sure.lead{color:var(--lack)}
.steps{margin:0;padding:0;list-style:none;counter-reset:step}
.steps li{counter-increment:step;padding:0 0 14px 34px;position:relative;font-size:.92rem}
.steps li:last-child{padding-bottom:0}
.steps li::before{content:counter(step);position:absolute;left:0;top:.05em;width:22px;height:22px;border-radius:50%;border:1.5px solid var(--accent);color:var(--accent);display:grid;place-items:center;font-size:.76rem;font-weight:700}
.steps b{display:block;line-height:1.35}.steps p{margin:2px 0 0;color:var(--soft);font-size:.88rem}
.cmd{display:block;margin-top:6px;padding:6px 10px;border-radius:7px;background:var(--bg);border:1px solid var(--line);font-size:.8rem;white-space:pre-wrap;overflow-wrap:anywhere}
.cmd::before{content:"$ ";color:var(--soft)}
.jumps{display:flex;flex-wrap:wrap;gap:8px;margin:30px 0 0;max-width:none}.jumps a{padding:4px 12px;border:1px solid var(--line);border-radius:999px;font-size:.86rem;color:var(--ink);text-decoration:none;background:var(--card)}.jumps a:hover{border-color:var(--accent);color:var(--accent)}
.planebox{display:grid;gap:10px 30px;grid-template-columns:minmax(0,1.5fr) minmax(0,1fr);align-items:start}
.planearea{padding:24px 10px 44px 44px}.plane{height:400px}
.plane svg{width:1px;height:1px}.plane text{font-size:12px}.plane .region{fill:var(--good);opacity:.08}.plane .threshold{stroke:var(--good);stroke-width:1.5;stroke-dasharray:5 4}
.plane .limit{fill:var(--good);font-weight:600}
.plane .rest{--c:var(--soft)}.plane .whisker{stroke-width:1.6;opacity:.5}.plane .rest .whisker{opacity:.28}
.plane .rest .mark{fill:var(--card);stroke:var(--c);stroke-width:1.6}
.plane .leader{stroke:var(--c);stroke-width:1;opacity:.7}
.plane .tag{fill:var(--c)}.plane .rest .tag{fill:var(--card);stroke:var(--c);stroke-width:1.3}
.plane .tagno{fill:var(--card);font-size:11px;font-weight:700}.plane .rest .tagno{fill:var(--c);font-weight:600}
.names{list-style:none;margin:6px 0 0;padding:0;font-size:.9rem}
.names li{display:grid;grid-template-columns:auto minmax(0,1fr);gap:0 10px;padding:5px 0;align-items:start}
.names small{display:block;color:var(--soft)}
.names a{color:inherit}
.cands td:first-child,.cands th:first-child{min-width:14rem}
.cands td:first-child>span{display:flex;gap:9px;align-items:center}.cands .no{font-size:.7rem}
.flag{color:var(--lack);font-weight:650}
.mx{margin-top:4px}
.mxhead,.mxrow>div{display:grid;gap:16px}
.mxhead span{white-space:nowrap}.mxhead{font-size:.82rem;color:var(--soft);border-bottom:1px solid var(--line);padding-bottom:4px;margin-bottom:8px}
.mxrow{padding:5px 0 7px}.mxrow h4{display:flex;gap:9px;align-items:center;margin:0 0 3px;font-size:.88rem;font-weight:600;line-height:1.3}
.mxrow h4 small{margin-left:auto;font-weight:400;color:var(--soft);text-align:right;font-variant-numeric:tabular-nums}
.mxrow h4 .no{font-size:.66rem}
.cells{display:flex;flex-wrap:wrap;gap:1px;align-content:flex-start;min-width:0}
.diag .cells button{flex:none;width:var(--w,8px);height:calc(var(--w,8px) + 4px);position:relative}
.cells .n{margin-left:3px}.some .cells{--w:7px}.some .cells .n{margin-left:2px}.few .cells{--w:13px;gap:2px}.few .cells .n{margin-left:6px}
.cells button::before,.k::before{box-sizing:border-box}.cells button::before{content:"";position:absolute;left:0;right:0;top:2px;height:var(--w,8px)}
.cells .L::before,.k.L::before{background:var(--lack);border-radius:1.5px}
.cells .P::before,.k.P::before{border:1.6px solid var(--show);border-radius:50%}
.cells .N::before,.k.N::before{background:radial-gradient(circle,var(--soft) 1.1px,transparent 1.5px);opacity:.75}
.cells .L::before,.cells .P::before{opacity:1}.cells .a9::before{opacity:.85}.cells .a8::before{opacity:.7}.cells .a7::before{opacity:.58}.cells .a6::before{opacity:.46}.cells .a5::before{opacity:.36}
.diag .cells button:hover,.diag .cells button:focus-visible{outline:2px solid var(--ink);outline-offset:0;border-radius:2px;z-index:1}
.k{display:inline-block;position:relative;width:10px;height:10px;margin-right:7px;vertical-align:-1px}.k::before{content:"";position:absolute;inset:0}
@media (pointer:coarse){.mx .cells{--w:13px}}
.cap{scroll-margin-top:56px}
.cap>header{display:flex;flex-wrap:wrap;gap:6px 12px;align-items:center;margin-bottom:4px}
.cap h3{margin:0;font-size:1.16rem}.cap>header .sure{margin-left:auto}
.tiles{display:grid;grid-template-columns:repeat(6,minmax(0,1fr));gap:1px;margin:14px 0;background:var(--line);border:1px solid var(--line);border-radius:9px;overflow:hidden}
.tiles div{background:var(--card);padding:8px 12px}
.tiles dt{font-size:.76rem;color:var(--soft)}.tiles dd{margin:0;font-size:1.12rem;font-weight:650;font-variant-numeric:tabular-nums;line-height:1.35}
.tiles dd small{display:block;font-weight:400;color:var(--soft);font-size:.78rem}
.split{display:grid;grid-template-columns:auto minmax(0,1fr);gap:5px 12px;align-items:center;font-size:.86rem;margin:12px 0}
.split .soft{grid-column:2}
.sbar{display:flex;gap:2px;height:20px;border-radius:5px;overflow:hidden;background:var(--line)}
.sbar span{display:grid;place-items:center;min-width:2px;font-size:.74rem;font-weight:700;color:var(--card)}
.sbar .L{background:var(--lack)}.sbar .P{background:color-mix(in srgb,var(--show) 22%,var(--card));color:var(--show);box-shadow:inset 0 0 0 1.5px var(--show)}.sbar .N{color:var(--soft);font-weight:400}
.cap h4{margin:20px 0 6px;font-size:.8rem;text-transform:uppercase;letter-spacing:.07em;color:var(--soft);font-weight:650}
.quotes{list-style:none;padding:0;margin:0}.quotes li{border-left:3px solid var(--lack);padding:1px 0 1px 12px;margin:10px 0}
.quotes q,.sheet q{quotes:none;font-family:ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:.83rem;unicode-bidi:isolate}
.quotes span{display:block;font-size:.85rem;color:var(--soft)}
.diag .go{color:var(--accent)}.diag .go:hover{text-decoration:underline}
.pair{display:grid;gap:14px;grid-template-columns:minmax(0,1fr) minmax(0,1fr)}
.side{border:1px solid var(--line);border-radius:9px;overflow:hidden;min-width:0}
.side>h5{margin:0;padding:8px 12px;font-size:.86rem;border-bottom:1px solid var(--line);background:var(--bg);display:flex;gap:8px;flex-wrap:wrap}
.side>h5 span{font-weight:400;color:var(--soft)}
.talk{list-style:none;margin:0;padding:0;font-size:.84rem}
.talk>li,.fold .talk>li{display:grid;grid-template-columns:68px minmax(0,1fr);gap:8px;padding:6px 12px;border-bottom:1px solid var(--line)}
.talk>li:last-child{border-bottom:0}
.talk li>b{color:var(--soft);font-weight:500;font-size:.76rem;line-height:1.7}.talk li>b i{display:block;opacity:.75;font-style:normal;font-size:.7rem;line-height:1}
.talk .body{white-space:pre-wrap;unicode-bidi:plaintext;min-width:0}
.talk li.tool{background:color-mix(in srgb,var(--line) 30%,transparent)}.talk li.tool .body{max-height:9.5em;overflow:auto}
.talk li.marked{background:color-mix(in srgb,var(--lack) 12%,transparent);box-shadow:inset 4px 0 var(--lack)}
.side.right .talk li.marked{background:color-mix(in srgb,var(--show) 12%,transparent);box-shadow:inset 4px 0 var(--show)}
.talk .why{margin:6px 0 0;font-weight:650;color:var(--lack)}.side.right .why{color:var(--show)}
.talk .why::before{content:"▲ "}
.talk mark{background:color-mix(in srgb,var(--lack) 26%,transparent);color:inherit;border-radius:3px;padding:0 2px;font-weight:700}
.side.right mark{background:color-mix(in srgb,var(--show) 26%,transparent)}
.fold{margin:0;border-bottom:1px solid var(--line)}.fold summary{padding:5px 12px;font-size:.8rem}.fold>.talk{border-top:1px solid var(--line)}
.sheet{border:1px solid var(--line);background:var(--card);color:var(--ink);padding:18px 20px;width:min(520px,100vw);max-height:100vh;height:100vh;overflow:auto;margin:0 0 0 auto;inset:0 0 0 auto;font-size:.9rem}
.sheet::backdrop{background:rgb(0 0 0/.32)}
.sheet h3{margin:0 40px 2px 0}.sheet .close{position:absolute;right:14px;top:12px;width:34px;height:34px;border-radius:8px;text-align:center;font-size:1.2rem;line-height:1;border:1px solid var(--line)}
.sheet ul{list-style:none;margin:12px 0;padding:0}.sheet li{padding:6px 0;border-top:1px solid var(--line)}
.sheet li>small{float:right;color:var(--soft)}
.list td{vertical-align:top;white-space:normal;overflow-wrap:anywhere}.list td:not(:first-child),.list th:not(:first-child){text-align:left}
.rates{max-width:620px}.rates th{white-space:normal}.rates th:first-child,.rates td:first-child{min-width:4rem}
.limits li{margin:5px 0}
@media (max-width:960px){.cands td .soft{display:block}.cands th,.cands td{padding:5px 6px}.cands th:first-child,.cands td:first-child{min-width:8.5rem}}
@media (max-width:960px){.tiles{grid-template-columns:repeat(3,minmax(0,1fr))}}
@media (max-width:820px){.first,.planebox,.pair{grid-template-columns:minmax(0,1fr)}.plane{height:330px}}
@media screen and (max-width:800px){
.stack thead{display:none}.stack,.stack tbody,.stack tr,.stack td{display:block;width:100%}
.stack tr{padding:10px 0;border-bottom:1px solid var(--line)}
.stack td,.list.stack td:not(:first-child){display:flex;justify-content:space-between;gap:14px;border:0;padding:2px 0;text-align:right;white-space:normal}
.stack td::before{content:attr(data-label);color:var(--soft);text-align:left;flex:none}
.stack td:first-child{text-align:left;font-weight:600;padding-bottom:4px}.stack td:first-child::before{content:none}
.cands tr{display:grid;grid-template-columns:repeat(4,minmax(0,1fr));gap:4px 10px}
.cands td{display:block;width:auto;text-align:left;font-size:.86rem}.cands td::before{display:block;font-size:.74rem;font-weight:400}
.cands td:first-child{grid-column:1/-1;font-size:.95rem}.cands td:nth-child(2),.cands td:nth-child(3){grid-column:span 2}.cands td .soft{display:inline}
}
@media (min-width:520px) and (max-width:820px){.names{columns:2;column-gap:24px}.names li{break-inside:avoid}}
@media (max-width:640px){
main{padding:20px 16px 60px}.card{padding:14px}.diag h2{margin-top:44px}
.finding{grid-template-columns:auto minmax(0,1fr)}.finding .sure{grid-column:2;margin-top:2px}
.mxrow h4{flex-wrap:wrap}.mxrow h4 small{width:100%;text-align:left;margin-left:0}
.cap>header .sure{margin-left:0}.tiles{grid-template-columns:repeat(2,minmax(0,1fr))}
.rates td .soft{display:block}.rates th,.rates td{padding:6px 4px}
.sheet{width:100vw;height:auto;max-height:82vh;inset:auto 0 0 0;margin:auto 0 0;border-radius:14px 14px 0 0}
}
@media print{
.pair{grid-template-columns:minmax(0,1fr) minmax(0,1fr)}.talk>li{grid-template-columns:44px minmax(0,1fr)}
*{print-color-adjust:exact;-webkit-print-color-adjust:exact}
main{max-width:none;padding:0}.cands{font-size:.8rem}.cands td .soft{display:block}.cands th,.cands td{padding:4px 5px}.cands th:first-child,.cands td:first-child{min-width:8rem}.jumps,.sheet{display:none}.diag h2{margin-top:28px}
.finding,.quotes li,.talk>li,.mxrow,.side>h5{break-inside:avoid}h2,h3,h4,h5{break-after:avoid}
.cap.card{break-inside:auto}.talk li.tool .body{max-height:none}
.more::details-content{content-visibility:visible;display:block;height:auto}.more>summary{display:none}
}
`;
