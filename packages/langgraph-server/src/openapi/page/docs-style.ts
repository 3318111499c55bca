export const DOCS_STYLE = `
:root {
  color-scheme: light dark;
  --ground: light-dark(#fbfbf9, #14161a);
  --raised: light-dark(#ffffff, #1b1e24);
  --ink: light-dark(#1c1f24, #e6e8ec);
  --quiet: light-dark(#5b626d, #9aa3b2);
  --line: light-dark(#e1e3e0, #2d323b);
  --accent: light-dark(#0b5fa5, #7cb8f2);
  --get: light-dark(#1f6f43, #7ed3a2);
  --post: light-dark(#0b5fa5, #7cb8f2);
  --patch: light-dark(#8a5a00, #e5b868);
  --delete: light-dark(#a8323a, #f09aa0);
  font: 16px/1.55 system-ui, sans-serif;
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
body { margin: 0; background: var(--ground); color: var(--ink); }
a { color: var(--accent); text-underline-offset: 2px; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 3px; }
code, pre { font: 0.875em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; overflow-wrap: anywhere; }
.skip { position: absolute; left: -999px; }
.skip:focus { left: 1rem; top: 1rem; background: var(--raised); padding: 0.5rem; z-index: 1; }
.page { display: grid; grid-template-columns: 19rem minmax(0, 1fr); max-width: 84rem; margin: 0 auto; }
nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1.5rem 1rem; border-right: 1px solid var(--line); font-size: 0.875rem; }
nav h2 { font-size: 0.875rem; margin: 1.25rem 0 0.25rem; color: var(--quiet); font-weight: 600; }
nav ul { list-style: none; margin: 0; padding: 0; }
nav li a { display: grid; grid-template-columns: 3.6rem 1fr; gap: 0.25rem; padding: 0.2rem 0.4rem; border-radius: 4px; color: inherit; text-decoration: none; }
nav li a:hover { background: var(--line); }
nav .names li a { display: block; }
main { padding: 1.5rem 2.5rem 6rem; min-width: 0; }
h1 { font-size: 1.6rem; margin: 0 0 0.25rem; }
main h2 { font-size: 1.3rem; margin: 3rem 0 0.25rem; }
h3 { font-size: 1.1rem; margin: 0 0 0.25rem; }
h4 { font-size: 0.875rem; margin: 1.25rem 0 0.4rem; color: var(--quiet); }
p { margin: 0.25rem 0 0.5rem; max-width: 46rem; }
.lead, .facts { color: var(--quiet); }
.facts { font-size: 0.875em; }
form { margin: 0; }
label { display: block; font-size: 0.875rem; color: var(--quiet); }
input { width: 100%; padding: 0.45rem 0.6rem; font: inherit; color: inherit; background: var(--raised); border: 1px solid var(--quiet); border-radius: 6px; }
article { background: var(--raised); border: 1px solid var(--line); border-radius: 8px; padding: 1.25rem 1.5rem; margin: 1rem 0; scroll-margin-top: 1rem; }
article:target { border-color: var(--accent); }
.anchor { color: inherit; text-decoration: none; }
.anchor:hover { text-decoration: underline; }
.method { font: 600 0.75rem/1.6 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; color: var(--accent); }
.method.get { color: var(--get); } .method.post { color: var(--post); }
.method.patch, .method.put { color: var(--patch); } .method.delete { color: var(--delete); }
.route .method { font-size: 0.875rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 0.9rem; }
th, td { text-align: left; vertical-align: top; padding: 0.35rem 0.75rem 0.35rem 0; border-bottom: 1px solid var(--line); }
th { font-weight: 600; color: var(--quiet); font-size: 0.8125rem; }
th:first-child { width: 15rem; }
th:nth-child(2) { width: 16rem; }
td:first-child { white-space: nowrap; }
.required { color: var(--delete); font-size: 0.75rem; }
.type { font-size: 0.875rem; }
.variant + .variant { margin-top: 1.25rem; }
.command { position: relative; }
pre { margin: 0; padding: 0.75rem 1rem; background: var(--ground); border: 1px solid var(--line); border-radius: 6px; overflow-x: auto; }
pre code { overflow-wrap: normal; }
.copy { position: absolute; top: 0.4rem; right: 0.4rem; font: inherit; font-size: 0.8125rem; padding: 0.15rem 0.6rem; color: var(--ink); background: var(--raised); border: 1px solid var(--quiet); border-radius: 5px; cursor: pointer; }
.answer { display: grid; grid-template-columns: 3rem minmax(0, 1fr); padding: 0.35rem 0; border-bottom: 1px solid var(--line); font-size: 0.9rem; }
.answer:last-child { border-bottom: 0; }
.answer p { margin: 0; }
.status { font-weight: 600; } .status.good { color: var(--get); } .status.bad { color: var(--quiet); }
summary { cursor: pointer; padding: 0.2rem 0; }
@media (max-width: 52rem) {
  .page { display: block; }
  nav { position: static; height: auto; border-right: 0; border-bottom: 1px solid var(--line); }
  nav .groups { max-height: 14rem; overflow-y: auto; }
  main { padding: 1rem; }
  article { padding: 1rem; }
  .copy { position: static; margin-top: 0.4rem; }
}
`;
