// node scripts/codemod/move-declaration.mjs FROM.ts TO.ts NAME…
//
// Moves top-level declarations to another module of the same package, with what they import, and makes every importer follow.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, posix } from "node:path";
import ts from "typescript";

const [from, to, ...names] = process.argv.slice(2);
const parse = (f, text) =>
  ts.createSourceFile(f, text, ts.ScriptTarget.ES2023, true, /x$/.test(f) ? ts.ScriptKind.TSX : undefined);
const specFrom = (user, file) => {
  // The console's bundler takes no extension.
  const p = posix.relative(dirname(user), file).replace(/\.tsx?$/, user.startsWith("apps/") ? "" : ".js");
  return p.startsWith(".") ? p : `./${p}`;
};
const resolves = (user, spec, file) =>
  /^\./.test(spec) &&
  posix.normalize(posix.join(dirname(user), spec)).replace(/\.js$/, "") === file.replace(/\.tsx?$/, "");

const text = readFileSync(from, "utf8");
const sf = parse(from, text);
const nameOf = (s) =>
  ts.isVariableStatement(s)
    ? s.declarationList.declarations.map((d) => d.name.getText()).join()
    : (s.name?.getText() ?? "");
const moving = sf.statements.filter((s) => names.includes(nameOf(s)));
if (moving.length !== names.length) throw new Error(`found only ${moving.map(nameOf)} of ${names}`);
const identifiers = (nodes) => {
  const out = new Set();
  const visit = (n) => {
    if (ts.isIdentifier(n)) out.add(n.text);
    ts.forEachChild(n, visit);
  };
  nodes.forEach(visit);
  return out;
};
const needed = identifiers(moving);
const staying = sf.statements.filter((s) => !moving.includes(s));
const isImport = (s) => ts.isImportDeclaration(s);
const stillUsed = identifiers(staying.filter((s) => !isImport(s)));
const lines = [];
for (const s of staying.filter(isImport)) {
  const b = s.importClause?.namedBindings;
  if (!b || !ts.isNamedImports(b)) continue;
  for (const e of b.elements) {
    if (!needed.has(e.name.text)) continue;
    const spec = s.moduleSpecifier.text;
    if (resolves(from, spec, to)) continue;
    const next = /^\./.test(spec)
      ? specFrom(to, posix.normalize(posix.join(dirname(from), spec)).replace(/\.js$/, ".ts"))
      : spec;
    const type = s.importClause.isTypeOnly || e.isTypeOnly ? "type " : "";
    lines.push(
      `import { ${type}${e.propertyName ? `${e.propertyName.text} as ` : ""}${e.name.text} } from "${next}";`,
    );
  }
}
for (const s of staying.filter((x) => !isImport(x)))
  if (needed.has(nameOf(s)) && nameOf(s)) console.error(`! needs ${nameOf(s)}, which stays in ${from}`);

let body = "";
let rest = text;
for (const s of [...moving].reverse()) {
  let piece = text.slice(s.getFullStart(), s.end);
  rest = rest.slice(0, s.getFullStart()) + rest.slice(s.end);
  if (!/^((?:\s|\/\*[\s\S]*?\*\/|\/\/[^\n]*\n)*)export /.test(piece))
    piece = piece.replace(/^((?:\s|\/\*[\s\S]*?\*\/|\/\/[^\n]*\n)*)/, "$1export ");
  body = piece + body;
}
const back = names.filter((n) => stillUsed.has(n));
if (back.length > 0) {
  const isType = (n) =>
    moving.some((s) => nameOf(s) === n && (ts.isInterfaceDeclaration(s) || ts.isTypeAliasDeclaration(s)));
  const directive = /^\s*"use client";\n/.exec(rest)?.[0] ?? "";
  rest = `${directive}import { ${back.map((n) => (isType(n) ? `type ${n}` : n)).join(", ")} } from "${specFrom(from, to)}";\n${rest.slice(directive.length)}`;
}
writeFileSync(from, rest);
const target = existsSync(to) ? readFileSync(to, "utf8") : "";
const tf = parse(to, target);
// Not imported from the old module any more.
let clean = target;
for (const s of [...tf.statements].reverse()) {
  if (!isImport(s) || !resolves(to, s.moduleSpecifier.text, from)) continue;
  clean = clean.slice(0, s.getFullStart()) + without(s, names) + clean.slice(s.end);
}
function without(s, gone) {
  const b = s.importClause.namedBindings;
  const left = b.elements.filter((e) => !gone.includes((e.propertyName ?? e.name).text));
  if (left.length === 0) return "";
  const type = s.importClause.isTypeOnly ? "type " : "";
  return `\nimport ${type}{ ${left.map((e) => e.getText()).join(", ")} } from ${s.moduleSpecifier.getText()};`;
}
const cf = parse(to, clean);
const at = cf.statements.filter(isImport).at(-1)?.end ?? 0;
writeFileSync(to, `${lines.join("\n")}\n${clean.slice(0, at)}\n${body}\n${clean.slice(at)}`);

const files = execFileSync("git", ["ls-files", "-c", "-o", "--exclude-standard", "*.ts", "*.tsx", "*.mjs"], {
  encoding: "utf8",
  maxBuffer: 1e9,
})
  .split("\n")
  .filter(Boolean);
for (const f of files) {
  if (f === from || f === to || !existsSync(f)) continue;
  const t = readFileSync(f, "utf8");
  if (!names.some((n) => t.includes(n))) continue;
  const u = parse(f, t);
  let out = t;
  for (const s of [...u.statements].reverse()) {
    const spec = s.moduleSpecifier?.text;
    if (!spec || !resolves(f, spec, from)) continue;
    const clause = isImport(s) ? s.importClause?.namedBindings : s.exportClause;
    if (!clause?.elements) continue;
    const hit = clause.elements.filter((e) => names.includes((e.propertyName ?? e.name).text));
    if (hit.length === 0) continue;
    const keep = clause.elements.filter((e) => !hit.includes(e));
    const type = (isImport(s) ? s.importClause.isTypeOnly : s.isTypeOnly) ? "type " : "";
    const word = isImport(s) ? "import" : "export";
    const line = (list, where) =>
      `${word} ${type}{ ${list.map((e) => e.getText()).join(", ")} } from "${where}";`;
    const made = [keep.length > 0 ? line(keep, spec) : "", line(hit, specFrom(f, to))]
      .filter(Boolean)
      .join("\n");
    out = out.slice(0, s.getStart()) + made + out.slice(s.end);
  }
  if (out !== t) writeFileSync(f, out);
}
