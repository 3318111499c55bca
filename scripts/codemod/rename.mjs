// node scripts/codemod/rename.mjs [--in FOLDER]… [--force] OLD=NEW…
//
// Renames identifiers, property names and `code` in comments and documents, as whole tokens. Refuses a pair where a file that
// holds OLD already holds NEW, or where OLD is written as a string, since that may be a row, a wire or a setting.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import ts from "typescript";

const args = process.argv.slice(2);
const folders = [];
const pairs = new Map();
const force = args.includes("--force");
for (let i = 0; i < args.length; i++) {
  if (args[i] === "--in") folders.push(args[++i]);
  else if (args[i].includes("=")) {
    const [from, to] = args[i].split("=");
    pairs.set(from, to);
  }
}
const files = execFileSync("git", ["ls-files", "-c", "-o", "--exclude-standard", ...folders], {
  encoding: "utf8",
  maxBuffer: 1e9,
})
  .split("\n")
  .filter((f) => f && !/pnpm-lock|\.jsonl$|fixtures\//.test(f));
const CODE = /\.(ts|tsx|mts|mjs|js)$/;
const found = new Map();
const blocked = new Map();
const block = (name, why) => blocked.set(name, [...(blocked.get(name) ?? []), why]);
for (const f of files) {
  if (!CODE.test(f)) continue;
  let text;
  try {
    text = readFileSync(f, "utf8");
  } catch {
    continue;
  }
  const names = [...pairs.keys()].filter((n) => text.includes(n));
  if (names.length === 0) continue;
  const sf = ts.createSourceFile(
    f,
    text,
    ts.ScriptTarget.ES2023,
    true,
    /x$/.test(f) ? ts.ScriptKind.TSX : undefined,
  );
  const all = new Set();
  const at = [];
  const visit = (n) => {
    if (ts.isIdentifier(n) || ts.isPrivateIdentifier(n)) {
      all.add(n.text);
      if (pairs.has(n.text)) at.push([n.getStart(sf), n.end, n.text]);
    } else if (ts.isStringLiteralLike(n) && pairs.has(n.text)) {
      const p = n.parent;
      // A picked or indexed key of a type is a name.
      if (ts.isLiteralTypeNode(p)) at.push([n.getStart(sf) + 1, n.end - 1, n.text]);
      else block(n.text, `${f}: the string "${n.text}"`);
    }
    ts.forEachChild(n, visit);
  };
  visit(sf);
  for (const [, , n] of at) if (all.has(pairs.get(n))) block(n, `${f}: ${pairs.get(n)} is there`);
  if (at.length > 0) found.set(f, { text, at });
}
for (const [name, why] of blocked)
  console.error(`! ${name}=${pairs.get(name)} ${[...new Set(why)].slice(0, 4).join("; ")}`);
const done = new Map();
for (const [f, { text, at }] of found) {
  let out = text;
  for (const [a, b, n] of at.sort((x, y) => y[0] - x[0])) {
    if (blocked.has(n) && !force) continue;
    out = out.slice(0, a) + pairs.get(n) + out.slice(b);
    done.set(n, (done.get(n) ?? 0) + 1);
  }
  // names in comments
  out = out.replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, (c) => {
    for (const [n, to] of pairs)
      if (!blocked.has(n) || force)
        c = c.replace(new RegExp(`(\`|\\{@link )${n}(?=\`|\\}|\\()`, "g"), `$1${to}`);
    return c;
  });
  if (out !== text) writeFileSync(f, out);
}
for (const f of files) {
  if (!/\.(md|mdx)$/.test(f) || !existsSync(f)) continue;
  const text = readFileSync(f, "utf8");
  const out = text.replace(/`[^`\n]+`/g, (span) => {
    for (const [n, to] of pairs)
      if (done.has(n)) span = span.replace(new RegExp(`(?<![\\w"'/-])${n}(?![\\w"'/-])`, "g"), to);
    return span;
  });
  if (out !== text) writeFileSync(f, out);
}
for (const [n, to] of pairs) console.log(`${n} -> ${to}: ${done.get(n) ?? (blocked.has(n) ? "refused" : 0)}`);
