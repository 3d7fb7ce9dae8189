/** Colours of slots and series, in order; they differ in lightness too, so that they can be told apart in grey. */
export const SERIES = 10;

/** Class of a slot: 0 is no adapter. */
export const slotClass = (slot: number) => (slot === 0 ? 's0' : `s${((slot - 1) % (SERIES - 1)) + 1}`);

const LIGHT = [
  '#8b8f98',
  '#0b6bcb',
  '#c2410c',
  '#15803d',
  '#7e22ce',
  '#b91c5c',
  '#0e7490',
  '#a16207',
  '#4d4d9a',
  '#5b5f1a',
];
const DARK = [
  '#8a909c',
  '#5aa9f8',
  '#fb923c',
  '#4ade80',
  '#c084fc',
  '#f472b6',
  '#22d3ee',
  '#facc15',
  '#a5b4fc',
  '#bef264',
];

const variables = (colours: readonly string[]) => colours.map((colour, i) => `--c${i}:${colour};`).join('');
const classes = Array.from({ length: SERIES }, (_, i) => `.s${i}{--c:var(--c${i})}`).join('');

/** The page's whole style: readable in light and dark, on paper and on small screens. */
export const STYLE = `
:root{color-scheme:light dark;--bg:#fbfbfa;--card:#ffffff;--ink:#1c1e21;--soft:#5c6370;--line:#dfe1e5;--accent:#0b6bcb;--good:#15803d;--bad:#b91c1c;${variables(LIGHT)}}
@media (prefers-color-scheme:dark){:root{--bg:#14161a;--card:#1c1f25;--ink:#e8eaed;--soft:#a0a7b4;--line:#33383f;--accent:#5aa9f8;--good:#4ade80;--bad:#f87171;${variables(DARK)}}}
${classes}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--ink);font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
main{overflow-wrap:break-word;max-width:1120px;margin:0 auto;padding:28px 22px 80px}
h1{font-size:1.05rem;font-weight:600;color:var(--soft);margin:0 0 14px;letter-spacing:.02em}
h2{font-size:1.35rem;margin:52px 0 6px}
h3{font-size:1.02rem;margin:20px 0 6px}
h4{font-size:.95rem;margin:14px 0 4px}
.card>h3:first-child,.hero h3:first-child{margin-top:0}
p{margin:6px 0 10px;max-width:76ch}
.lead{color:var(--soft);margin-top:0}
.soft{color:var(--soft)}
small,.small{font-size:.85rem}
code,pre,.mono{font-family:ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:.85em}
pre{overflow:auto;background:var(--bg);border:1px solid var(--line);border-radius:8px;padding:10px 12px;white-space:pre-wrap}
nav{position:sticky;top:0;background:var(--bg);border-bottom:1px solid var(--line);margin:26px -22px 0;padding:8px 22px;display:flex;gap:18px;flex-wrap:wrap;font-size:.9rem;z-index:2}
nav a{color:var(--soft);text-decoration:none}nav a:hover{color:var(--accent)}
.card{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:16px 18px;margin:12px 0;min-width:0}
.grid{display:grid;gap:14px;grid-template-columns:repeat(auto-fit,minmax(min(100%,460px),1fr))}
.grid.three{grid-template-columns:repeat(auto-fill,minmax(min(100%,240px),1fr))}
.grid>.card{margin:0}
.hero{display:grid;gap:22px;grid-template-columns:minmax(0,1.25fr) minmax(0,1fr);align-items:center}
@media (max-width:760px){.hero{grid-template-columns:1fr}}
.jump{font-size:clamp(2.1rem,6vw,3.6rem);font-weight:700;line-height:1.1;letter-spacing:-.02em;white-space:nowrap}
.jump .from{color:var(--soft);font-weight:500}.jump .to{color:var(--good)}
.chips{display:flex;flex-wrap:wrap;gap:8px;margin:6px 0 14px;padding:0;list-style:none}
.chips li{border:1px solid var(--line);border-left:4px solid var(--c,var(--accent));border-radius:7px;padding:4px 10px;background:var(--card);font-size:.93rem}
table{border-collapse:collapse;width:100%;font-size:.9rem;font-variant-numeric:tabular-nums}
.scroll{overflow-x:auto}
th,td{padding:6px 10px;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap;vertical-align:baseline}
th:first-child,td:first-child{text-align:left;white-space:normal;min-width:9.5rem}
th{font-weight:600;color:var(--soft);font-size:.84rem}
tr.own td{font-weight:650}
td .soft{font-weight:400;font-size:.84em}
td .under{display:block}
td.wide,th.wide{white-space:normal;text-align:left}
.good{color:var(--good)}.bad{color:var(--bad)}
svg{display:block;width:100%;height:auto;overflow:visible}
svg text{fill:var(--ink);font-size:13px}
svg .soft{fill:var(--soft);color:var(--soft)}
svg .axis{stroke:var(--line);stroke-width:1}
svg .mark{fill:var(--c);stroke:none}
svg .line{fill:none;stroke:var(--c);stroke-width:2}
svg .faint{fill:none;stroke:var(--c);stroke-width:1.3;opacity:.5}
svg .whisker{stroke:var(--c);stroke-width:2}
.mixture{--c:var(--accent)}.base{--c:var(--c0)}.baseline{--c:var(--c2)}.other{--c:var(--soft)}
details{margin:8px 0}summary{cursor:pointer;color:var(--accent)}
.tokens{line-height:2.15;font-family:ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:.84rem}
.turn{display:grid;grid-template-columns:86px minmax(0,1fr);gap:10px;padding:4px 0;border-bottom:1px dashed var(--line)}
.turn>b{color:var(--soft);font-weight:500;font-family:system-ui,sans-serif;font-size:.82rem;line-height:2.2}
.tok{display:inline-block;line-height:1.35;padding:1px 3px 0;margin:0 1px;border-radius:4px 4px 2px 2px;white-space:pre;background:color-mix(in srgb,var(--c) 20%,transparent);cursor:help}
.tok i{display:block;height:4px;border-radius:2px;margin-top:1px}
.ctx{color:var(--soft);white-space:pre-wrap;overflow-wrap:anywhere}
.swatch{display:inline-block;width:.8em;height:.8em;border-radius:3px;background:var(--c);margin-right:.4em;vertical-align:-.05em}
.bar{display:flex;height:16px;border-radius:4px;overflow:hidden;background:var(--line)}
.bar span{background:var(--c);min-width:0}
.legend{display:flex;flex-wrap:wrap;gap:6px 18px;margin:8px 0;font-size:.88rem}
.kv{display:grid;grid-template-columns:auto 1fr;gap:2px 16px;font-size:.9rem;margin:8px 0}.kv dt{color:var(--soft)}.kv dd{margin:0;font-variant-numeric:tabular-nums}
.note{border-left:4px solid var(--c2);padding:6px 12px;margin:12px 0;background:var(--card);border-radius:0 8px 8px 0}
@media print{nav{display:none}body{background:#fff}.card{break-inside:avoid}}
`;
