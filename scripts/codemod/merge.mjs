// node scripts/codemod/merge.mjs MAP.json [--dry]
//
// Moves and merges modules. MAP: { "modules": { "path/of/new.ts": ["path/of/old.ts", …] }, "tests": { "old": "new" },
// "renames": { "path/of/old.ts#name": "newName" } }, all paths from the repository's root. Every import, every relative
// string and every path in documents and configuration that names an old file names the new one afterwards.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, posix } from "node:path";
import ts from "typescript";

const ROOT = process.cwd();
const map = JSON.parse(readFileSync(process.argv[2], "utf8"));
const dry = process.argv.includes("--dry");
const problems = [];

const tracked = execFileSync("git", ["ls-files"], { encoding: "utf8", maxBuffer: 1e9 })
  .split("\n")
  .filter(Boolean);
const exists = new Set(tracked);
const CODE = /\.(ts|tsx|mts|mjs|cts|cjs|js|jsx)$/;
const code = tracked.filter((f) => CODE.test(f));
const texts = new Map();
const read = (f) => {
  if (!texts.has(f)) texts.set(f, readFileSync(join(ROOT, f), "utf8"));
  return texts.get(f);
};
const parse = (f, text = read(f)) =>
  ts.createSourceFile(f, text, ts.ScriptTarget.ES2023, true, /x$/.test(f) ? ts.ScriptKind.TSX : undefined);

const styleOutput = new Map();
// old file -> new file
const moved = new Map();
for (const [to, froms] of Object.entries(map.modules)) {
  for (const from of froms) {
    if (!exists.has(from)) problems.push(`no such file: ${from} (for ${to})`);
    if (moved.has(from)) problems.push(`twice: ${from}`);
    moved.set(from, to);
  }
}
placeTests();
mergeStyles();

/** A component's CSS module goes where the component goes; several in one module become one, with classes kept apart. */
function mergeStyles() {
  const importers = new Map();
  for (const f of code)
    for (const m of read(f).matchAll(/import (\w+) from "(\.[^"]*\.module\.css)";/g)) {
      const css = posix.normalize(posix.join(dirname(f), m[2]));
      if (!importers.has(css)) importers.set(css, []);
      importers.get(css).push({ f, local: m[1] });
    }
  const byTarget = new Map();
  for (const [css, users] of importers) {
    const own =
      users.find(({ f }) => f.replace(/\.tsx?$/, "") === css.replace(/\.module\.css$/, "")) ??
      users.find(({ f }) => moved.has(f));
    const to = own && moved.get(own.f);
    if (!to || !map.modules[to]) continue;
    const home = map.styles?.[css] ?? to.replace(/\.tsx?$/, ".module.css");
    if (!byTarget.has(home)) byTarget.set(home, []);
    const isDynamic = users.some(({ f, local }) => new RegExp(`\\b${local}\\[`).test(read(f)));
    byTarget.get(home).push({ css, users, isDynamic });
  }
  for (const [home, parts] of byTarget) {
    const taken = new Set();
    const classesOf = (text) =>
      new Set(
        [...text.replace(/\/\*[\s\S]*?\*\//g, "").matchAll(/\.([A-Za-z_][\w-]*)(?=[^{}]*\{)/g)].map(
          (m) => m[1],
        ),
      );
    const order = Object.values(map.modules).flat();
    parts.sort((a, b) => order.indexOf(a.users[0].f) - order.indexOf(b.users[0].f));
    const named = [...parts].sort((a, b) => Number(b.isDynamic) - Number(a.isDynamic));
    const renamed = new Map();
    for (const part of named) {
      const own = classesOf(read(part.css));
      const renames = [...own]
        .filter((c) => taken.has(c))
        .map((c) => [c, camel(`${basename(part.css, ".module.css")}-${c}`)]);
      if (part.isDynamic && renames.length > 0)
        problems.push(`${part.css}: ${renames.map(([c]) => c)} read by a computed name, and taken`);
      for (const c of own) taken.add(renames.find(([x]) => x === c)?.[1] ?? c);
      renamed.set(part.css, renames);
      for (const { f, local } of part.users)
        for (const [c, to] of renames)
          texts.set(f, read(f).replace(new RegExp(`\\b${local}\\.${c}\\b(?!-)`, "g"), `${local}.${to}`));
    }
    let body = "";
    for (const { css } of parts) {
      let text = read(css);
      for (const [c, to] of renamed.get(css))
        text = text.replace(new RegExp(`\\.${c}(?![\\w-])`, "g"), `.${to}`);
      body += `${body ? "\n" : ""}${text.trim()}\n`;
      moved.set(css, home);
    }
    styleOutput.set(home, body);
  }
}
function camel(t) {
  return t.replace(/-(\w)/g, (_, c) => c.toUpperCase());
}

function placeTests() {
  const inDir = new Map();
  for (const [from, to] of moved) {
    const d = dirname(from);
    if (!inDir.has(d)) inDir.set(d, new Map());
    inDir.get(d).set(basename(from).replace(/\.[^.]+$/, ""), dirname(to));
  }
  const stay = new Set(tracked.filter((f) => !moved.has(f) && CODE.test(f) && !isTest(f)).map(dirname));
  for (const f of tracked) {
    if (moved.has(f)) continue;
    const own = map.tests?.[f];
    if (own) {
      moved.set(f, own);
      continue;
    }
    const names = inDir.get(dirname(f));
    if (!names || !isTest(f)) continue;
    const base = basename(f).replace(/\.(test|bench|e2e|test-d).*$/, "");
    const match =
      names.get(base) ??
      [...names].filter(([n]) => base.startsWith(n)).sort((a, b) => b[0].length - a[0].length)[0]?.[1];
    if (match === undefined && stay.has(dirname(f))) continue;
    const count = new Map();
    for (const d of names.values()) count.set(d, (count.get(d) ?? 0) + 1);
    const dir = match ?? [...count].sort((a, b) => b[1] - a[1])[0][0];
    let to = posix.join(dir, basename(f));
    if (to !== f && (exists.has(to) || [...moved.values()].includes(to)))
      to = posix.join(dir, `${basename(dirname(f))}-${basename(f)}`);
    if (to !== f) moved.set(f, to);
  }
}
function isTest(f) {
  return /\.(test|bench|e2e|test-d)\.tsx?$/.test(f);
}

const STYLES = [
  [/\.js$/, ".ts"],
  [/\.js$/, ".tsx"],
  [/\.jsx$/, ".tsx"],
  [/\.mjs$/, ".mts"],
];
/** The tracked file a relative specifier names, and how it is written. */
function resolve(from, spec) {
  if (!/^\.\.?(\/|$)/.test(spec)) return undefined;
  const [path, query = ""] = spec.split(/(?=\?)/);
  const full = posix.normalize(posix.join(dirname(from), path));
  if (exists.has(full)) return { file: full, style: "same", query };
  for (const [re, ext] of STYLES)
    if (re.test(full) && exists.has(full.replace(re, ext)))
      return { file: full.replace(re, ext), style: full.match(re)[0], query };
  for (const ext of [".ts", ".tsx", ".mts", ".mjs"])
    if (exists.has(full + ext)) return { file: full + ext, style: "none", query };
  for (const ext of ["/index.ts", "/index.tsx"])
    if (exists.has(full + ext)) return { file: full + ext, style: "none", query };
  return undefined;
}
function specTo(fromNew, toNew, style, query = "") {
  let p = posix.relative(dirname(fromNew), toNew);
  if (!/^\.\.?\//.test(p)) p = `./${p}`;
  if (style === "none") p = p.replace(/\.(tsx?|mts)$/, "");
  else if (style !== "same") p = p.replace(/\.(tsx?|mts)$/, style);
  return p + query;
}
const newOf = (f) => moved.get(f) ?? f;

/** Identifier references of each name in one file, by symbol. */
function singleFile(f, text) {
  const sf = parse(f, text);
  const host = {
    getSourceFile: (n) => (n === f ? sf : undefined),
    writeFile() {},
    getDefaultLibFileName: () => "lib.d.ts",
    useCaseSensitiveFileNames: () => true,
    getCanonicalFileName: (n) => n,
    getCurrentDirectory: () => "",
    getNewLine: () => "\n",
    fileExists: (n) => n === f,
    readFile: () => undefined,
  };
  const program = ts.createProgram(
    [f],
    { noResolve: true, noLib: true, allowJs: true, jsx: ts.JsxEmit.Preserve },
    host,
  );
  return { sf, checker: program.getTypeChecker() };
}
function valueSymbol(checker, id) {
  if (ts.isShorthandPropertyAssignment(id.parent) && id.parent.name === id)
    return checker.getShorthandAssignmentValueSymbol(id.parent);
  if (ts.isExportSpecifier(id.parent)) return checker.getExportSpecifierLocalTargetSymbol(id.parent);
  return checker.getSymbolAtLocation(id);
}
function isReference(id) {
  const p = id.parent;
  if (ts.isPropertyAccessExpression(p) && p.name === id) return false;
  if (ts.isQualifiedName(p) && p.right === id) return false;
  if (
    (ts.isPropertyAssignment(p) ||
      ts.isMethodDeclaration(p) ||
      ts.isPropertySignature(p) ||
      ts.isMethodSignature(p) ||
      ts.isPropertyDeclaration(p) ||
      ts.isGetAccessor(p) ||
      ts.isSetAccessor(p) ||
      ts.isEnumMember(p) ||
      ts.isJsxAttribute(p)) &&
    p.name === id
  )
    return false;
  if (ts.isImportSpecifier(p) && p.propertyName === id) return false;
  if (ts.isExportSpecifier(p) && (p.parent.parent.moduleSpecifier || (p.propertyName && p.name === id)))
    return false;
  if (ts.isBindingElement(p) && p.propertyName === id) return false;
  if (ts.isNamedTupleMember(p) && p.name === id) return false;
  if (ts.isTypePredicateNode(p)) return true;
  return true;
}
/** Renames a top-level name or an import's local name in one file's text. */
function renameIn(f, text, name, to) {
  const { sf, checker } = singleFile(f, text);
  const target = topSymbol(sf, checker, name);
  if (!target) {
    problems.push(`${f}: nothing is called ${name}`);
    return text;
  }
  const edits = [];
  let shadow = false;
  visit(sf, (n) => {
    if (!ts.isIdentifier(n)) return;
    if (n.text === to && isReference(n)) shadow = true;
    if (n.text !== name || !isReference(n)) return;
    if (valueSymbol(checker, n) !== target) return;
    const p = n.parent;
    if (ts.isShorthandPropertyAssignment(p)) edits.push([n.getStart(), n.end, `${name}: ${to}`]);
    else if (ts.isBindingElement(p) && p.name === n && !p.propertyName && ts.isObjectBindingPattern(p.parent))
      edits.push([n.getStart(), n.end, `${name}: ${to}`]);
    else if (ts.isImportSpecifier(p) && !p.propertyName)
      edits.push([n.getStart(), n.end, `${name} as ${to}`]);
    else if (ts.isExportSpecifier(p) && !p.propertyName)
      edits.push([n.getStart(), n.end, `${to} as ${name}`]);
    else edits.push([n.getStart(), n.end, to]);
  });
  if (shadow) problems.push(`${f}: renaming ${name} to ${to}, which is in use there`);
  return apply(text, edits);
}
function topSymbol(sf, checker, name) {
  let found;
  for (const s of sf.statements) {
    if (ts.isImportDeclaration(s)) {
      const c = s.importClause;
      if (c?.name?.text === name) found = checker.getSymbolAtLocation(c.name);
      const b = c?.namedBindings;
      if (b && ts.isNamespaceImport(b) && b.name.text === name) found = checker.getSymbolAtLocation(b.name);
      if (b && ts.isNamedImports(b))
        for (const e of b.elements) if (e.name.text === name) found = checker.getSymbolAtLocation(e.name);
    } else for (const id of declared(s)) if (id.text === name) found = checker.getSymbolAtLocation(id);
  }
  return found;
}
function visit(n, f) {
  f(n);
  ts.forEachChild(n, (c) => visit(c, f));
}
function apply(text, edits) {
  for (const [a, b, r] of edits.sort((x, y) => y[0] - x[0])) text = text.slice(0, a) + r + text.slice(b);
  return text;
}
/** The identifiers a top-level statement declares. */
function declared(s) {
  if (ts.isVariableStatement(s)) {
    const out = [];
    const take = (n) => {
      if (ts.isIdentifier(n)) out.push(n);
      else for (const e of n.elements) if (!ts.isOmittedExpression(e)) take(e.name);
    };
    for (const d of s.declarationList.declarations) take(d.name);
    return out;
  }
  if (
    (ts.isFunctionDeclaration(s) ||
      ts.isClassDeclaration(s) ||
      ts.isInterfaceDeclaration(s) ||
      ts.isTypeAliasDeclaration(s) ||
      ts.isEnumDeclaration(s) ||
      ts.isModuleDeclaration(s)) &&
    s.name &&
    ts.isIdentifier(s.name)
  )
    return [s.name];
  return [];
}
const isExported = (s) =>
  ts.canHaveModifiers(s) && ts.getModifiers(s)?.some((m) => m.kind === ts.SyntaxKind.ExportKeyword);

/** What one old file brings into a module. */
function takeApart(f, to) {
  let text = commentImports(read(f), f, to);
  for (const [key, name] of Object.entries(map.renames ?? {})) {
    const [file, old] = key.split("#");
    if (file === f) text = renameIn(f, text, old, name);
  }
  // What a sibling exports under another name here is called by its own name.
  for (;;) {
    const sf = parse(f, text);
    const alias = sf.statements.filter(ts.isImportDeclaration).flatMap((s) => {
      const r = resolve(f, s.moduleSpecifier.text);
      const b = s.importClause?.namedBindings;
      if (!r || newOf(r.file) !== to) return [];
      if (b && ts.isNamespaceImport(b)) problems.push(`${f}: namespace import of its own module`);
      return b && ts.isNamedImports(b)
        ? b.elements
            .filter((e) => e.propertyName && e.propertyName.text !== e.name.text)
            .map((e) => [
              e.name.text,
              map.renames?.[`${r.file}#${e.propertyName.text}`] ?? e.propertyName.text,
              e,
            ])
        : [];
    })[0];
    if (!alias) break;
    const [local, original, node] = alias;
    // first write it without alias under its local name, then rename the local symbol
    const renamed = renameIn(f, text, local, original);
    const again = parse(f, renamed);
    const edits = [];
    visit(again, (n) => {
      if (ts.isImportSpecifier(n) && n.propertyName && n.propertyName.text === n.name.text)
        edits.push([n.propertyName.getStart(), n.name.getStart(), ""]);
    });
    const next = apply(renamed, edits);
    if (next === text) {
      problems.push(`${f}: alias ${local} of ${original} stays (${node.getText()})`);
      break;
    }
    text = next;
  }
  // A CSS module that is another module's has a name of its own here.
  for (const m of [...text.matchAll(/import (\w+) from "(\.[^"]*\.module\.css)";/g)]) {
    const r = resolve(f, m[2]);
    const home = r && newOf(r.file);
    const isOwn = home === to.replace(/\.tsx?$/, ".module.css");
    const want = isOwn
      ? "styles"
      : m[1] === "styles" && home
        ? camel(`${basename(home, ".module.css")}-styles`)
        : m[1];
    if (want !== m[1] && new RegExp(`import ${want} from`).test(text)) {
      text = text.replace(m[0], "").replace(new RegExp(`\\b${m[1]}(?=[.[])`, "g"), want);
      continue;
    }
    if (want !== m[1]) text = renameIn(f, text, m[1], want);
  }
  const { sf, checker } = singleFile(f, text);
  const imports = [];
  const reexports = [];
  const parts = [];
  const siblings = [];
  let head = "";
  const strings = [];
  visit(sf, (n) => {
    if (
      ts.isStringLiteralLike(n) &&
      !(ts.isImportDeclaration(n.parent) || ts.isExportDeclaration(n.parent))
    ) {
      const r = /^\.\.?\//.test(n.text) ? resolve(f, n.text) : undefined;
      if (r && r.file !== f && newOf(r.file) === to && map.modules[to].includes(r.file))
        problems.push(`${f}: loads ${r.file} lazily, which is in its own module`);
      if (r) {
        const next = specTo(to, newOf(r.file), r.style, r.query);
        if (next !== n.text) strings.push([n.getStart() + 1, n.end - 1, next]);
      }
    }
  });
  const slice = (a, b) =>
    apply(
      text.slice(a, b),
      strings.filter(([x]) => x >= a && x < b).map(([x, y, r]) => [x - a, y - a, r]),
    );
  const directives = [];
  for (const s of sf.statements) {
    if (parts.length === 0 && ts.isExpressionStatement(s) && ts.isStringLiteral(s.expression)) {
      directives.push(s.getText());
      const lead = text.slice(s.getFullStart(), s.getStart()).trim();
      if (lead) head += `${lead}\n`;
      continue;
    }
    if (ts.isImportDeclaration(s)) {
      const lead = text.slice(s.getFullStart(), s.getStart()).trim();
      if (lead) head += `${lead}\n`;
      const r = resolve(f, s.moduleSpecifier.text);
      const target = r ? newOf(r.file) : undefined;
      if (target === to) {
        siblings.push({ file: r.file, node: s });
        continue;
      }
      imports.push({
        spec: r ? specTo(to, target, r.style, r.query) : s.moduleSpecifier.text,
        clause: s.importClause,
      });
    } else if (ts.isExportDeclaration(s) && s.moduleSpecifier) {
      const r = resolve(f, s.moduleSpecifier.text);
      if (r && newOf(r.file) === to) {
        if (
          s.exportClause &&
          ts.isNamedExports(s.exportClause) &&
          s.exportClause.elements.some((e) => e.propertyName)
        )
          problems.push(`${f}: exports a sibling under another name`);
        continue;
      }
      const spec = r ? specTo(to, newOf(r.file), r.style, r.query) : s.moduleSpecifier.text;
      reexports.push(
        text.slice(s.getFullStart(), s.getStart()).trim() +
          "\n" +
          text.slice(s.getStart(), s.moduleSpecifier.getStart()) +
          JSON.stringify(spec) +
          ";",
      );
    } else {
      if (
        ts.isExportAssignment(s) ||
        (ts.canHaveModifiers(s) && ts.getModifiers(s)?.some((m) => m.kind === ts.SyntaxKind.DefaultKeyword))
      )
        problems.push(`${f}: default export`);
      parts.push({
        text: slice(s.getFullStart(), s.end),
        names: declared(s).map((i) => i.text),
        exported: Boolean(isExported(s)),
      });
    }
  }
  const tail = text.slice(sf.statements.at(-1)?.end ?? 0).trim();
  if (tail && !parts.length) head += tail;
  else if (tail) parts.push({ text: `\n${tail}`, names: [], exported: false });
  // free names
  const free = new Set();
  const early = new Set();
  visit(sf, (n) => {
    if (!ts.isIdentifier(n) || !isReference(n)) return;
    const sym = valueSymbol(checker, n);
    if (!sym?.declarations?.length) free.add(n.text);
  });
  // names evaluated while the module loads
  const locals = new Set(parts.flatMap((part) => part.names));
  let callsLocal = false;
  const top = (n) => {
    if (
      ts.isFunctionLike(n) &&
      !isImmediate(n) &&
      !(ts.isCallExpression(n.parent) && n.parent.arguments.includes(n))
    )
      return;
    if (ts.isCallExpression(n) && ts.isIdentifier(n.expression) && locals.has(n.expression.text))
      callsLocal = true;
    if (
      ts.isTypeNode(n) ||
      ts.isInterfaceDeclaration(n) ||
      ts.isTypeAliasDeclaration(n) ||
      ts.isImportDeclaration(n)
    )
      return;
    if (ts.isClassLike(n)) {
      for (const h of n.heritageClauses ?? [])
        if (h.token === ts.SyntaxKind.ExtendsKeyword)
          visit(h, (c) => ts.isIdentifier(c) && early.add(c.text));
      for (const m of n.members)
        if (
          ts.isPropertyDeclaration(m) &&
          m.initializer &&
          m.modifiers?.some((x) => x.kind === ts.SyntaxKind.StaticKeyword)
        )
          top(m.initializer);
      return;
    }
    if (ts.isIdentifier(n) && isReference(n)) early.add(n.text);
    ts.forEachChild(n, top);
  };
  for (const s of sf.statements) top(s);
  if (callsLocal) visit(sf, (n) => ts.isIdentifier(n) && early.add(n.text));
  return { f, text, imports, reexports, parts, siblings, head, free, early, directives };
}
/** `import("./x.js")` in a comment's type. */
function commentImports(text, f, to) {
  return text.replace(/\/\*[\s\S]*?\*\//g, (c) =>
    c.replace(/import\("(\.[^"]+)"\)/g, (whole, spec) => {
      const r = resolve(f, spec);
      return r && (newOf(r.file) !== r.file || to !== f)
        ? `import("${specTo(to, newOf(r.file), r.style, r.query)}")`
        : whole;
    }),
  );
}
function isImmediate(n) {
  let p = n.parent;
  while (ts.isParenthesizedExpression(p)) p = p.parent;
  return ts.isCallExpression(p) && (p.expression === n || ts.isParenthesizedExpression(p.expression));
}

/** Siblings whose values are needed while a file loads come before it; otherwise the map's order holds. */
function ordered(sources) {
  const byFile = new Map(sources.map((s) => [s.f, s]));
  const valuesOf = (s) =>
    s.siblings.filter(({ node }) => !node.importClause?.isTypeOnly).map(({ file }) => file);
  const needed = (s) => {
    const out = new Set();
    const direct = s.siblings.filter(({ node }) => {
      const b = node.importClause?.namedBindings;
      return b && ts.isNamedImports(b) && b.elements.some((e) => !e.isTypeOnly && s.early.has(e.name.text));
    });
    const add = (f) => {
      if (out.has(f) || !byFile.has(f)) return;
      out.add(f);
      for (const g of valuesOf(byFile.get(f))) add(g);
    };
    for (const { file } of direct) add(file);
    out.delete(s.f);
    return out;
  };
  const deps = new Map(sources.map((s) => [s.f, needed(s)]));
  const out = [];
  const seen = new Set();
  const put = (s, path) => {
    if (seen.has(s.f)) return;
    if (path.includes(s.f)) return;
    for (const t of sources) if (deps.get(s.f).has(t.f)) put(t, [...path, s.f]);
    if (seen.has(s.f)) return;
    seen.add(s.f);
    out.push(s);
  };
  for (const s of sources) put(s, []);
  return out;
}

const importsText = (imports) => {
  const by = new Map();
  const bare = [];
  for (const { spec, clause } of imports) {
    if (!clause) {
      if (!bare.includes(spec)) bare.push(spec);
      continue;
    }
    if (!by.has(spec)) by.set(spec, { names: new Map(), others: new Set() });
    const entry = by.get(spec);
    if (clause.name)
      entry.others.add(
        `import ${clause.isTypeOnly ? "type " : ""}${clause.name.text} from ${JSON.stringify(spec)};`,
      );
    const b = clause.namedBindings;
    if (b && ts.isNamespaceImport(b))
      entry.others.add(
        `import ${clause.isTypeOnly ? "type " : ""}* as ${b.name.text} from ${JSON.stringify(spec)};`,
      );
    if (b && ts.isNamedImports(b))
      for (const e of b.elements) {
        const key = e.propertyName ? `${e.propertyName.text} as ${e.name.text}` : e.name.text;
        const type = clause.isTypeOnly || e.isTypeOnly;
        entry.names.set(key, (entry.names.get(key) ?? true) && type);
      }
  }
  const lines = bare.map((s) => `import ${JSON.stringify(s)};`);
  for (const [spec, { names, others }] of by) {
    lines.push(
      ...[...others].filter(
        (o) => !o.startsWith("import type ") || !others.has(o.replace("import type ", "import ")),
      ),
    );
    if (names.size === 0) continue;
    const all = [...names.values()].every(Boolean);
    const list = [...names].map(([n, t]) => (t && !all ? `type ${n}` : n)).join(", ");
    lines.push(`import ${all ? "type " : ""}{ ${list} } from ${JSON.stringify(spec)};`);
  }
  return lines.join("\n");
};

// Who imports which name of which old file.
const uses = new Map();
const use = (file, name, by) => {
  if (!uses.has(file)) uses.set(file, new Map());
  const m = uses.get(file);
  if (!m.has(name)) m.set(name, new Set());
  m.get(name).add(by);
};
const parsed = new Map();
for (const f of code) {
  const text = read(f);
  if (!/import|export|require/.test(text)) continue;
  for (const [, spec, name] of text.matchAll(/import\("(\.[^"]+)"\)\.(\w+)/g)) {
    const r = resolve(f, spec);
    if (r) use(r.file, name, f);
  }
  const sf = parse(f, text);
  parsed.set(f, sf);
  visit(sf, (n) => {
    if (ts.isImportDeclaration(n) || ts.isExportDeclaration(n)) {
      if (!n.moduleSpecifier) return;
      const r = resolve(f, n.moduleSpecifier.text);
      if (!r) return;
      const named = ts.isImportDeclaration(n) ? n.importClause?.namedBindings : n.exportClause;
      if (named && (ts.isNamedImports(named) || ts.isNamedExports(named)))
        for (const e of named.elements) use(r.file, (e.propertyName ?? e.name).text, f);
      else use(r.file, "*", f);
    } else if (
      ts.isStringLiteralLike(n) &&
      /^\.\.?\//.test(n.text) &&
      !ts.isImportDeclaration(n.parent) &&
      !ts.isExportDeclaration(n.parent)
    ) {
      const r = resolve(f, n.text);
      if (r) use(r.file, "*", f);
    }
  });
}

for (const key of Object.keys(map.renames ?? {})) {
  const [file, name] = key.split("#");
  const by = [...(uses.get(file)?.get(name) ?? [])].filter((f) => newOf(f) !== newOf(file));
  if (by.length > 0) problems.push(`${key} is renamed, and imported by ${by.join(", ")}`);
}

const output = new Map();
for (const [to, froms] of Object.entries(map.modules)) {
  if (froms.length === 1 && !CODE.test(froms[0])) continue;
  if (froms.some((f) => !exists.has(f))) continue;
  const sources = ordered(froms.map((f) => takeApart(f, to)));
  // collisions
  const owner = new Map();
  for (const s of sources) {
    for (const p of s.parts)
      for (const n of new Set(p.names)) {
        const other = owner.get(n);
        if (other && other.f !== s.f) problems.push(`${to}: ${n} is declared in ${other.f} and ${s.f}`);
        owner.set(n, s);
      }
  }
  const locals = new Map();
  for (const s of sources)
    for (const { spec, clause } of s.imports) {
      if (!clause) continue;
      const b = clause.namedBindings;
      const names = [
        ...(clause.name ? [[clause.name.text, "default"]] : []),
        ...(b && ts.isNamespaceImport(b) ? [[b.name.text, "*"]] : []),
        ...(b && ts.isNamedImports(b)
          ? b.elements.map((e) => [e.name.text, (e.propertyName ?? e.name).text])
          : []),
      ];
      for (const [n, orig] of names) {
        const id = `${spec}#${orig}`;
        if (owner.has(n))
          problems.push(`${to}: ${n} is imported by ${s.f} (${spec}) and declared in ${owner.get(n).f}`);
        if (locals.has(n) && locals.get(n).id !== id)
          problems.push(`${to}: ${n} is imported from ${locals.get(n).id} and ${id} (${s.f})`);
        locals.set(n, { id, f: s.f });
      }
    }
  for (const s of sources)
    for (const n of s.free) {
      const d = owner.get(n);
      if (d && d.f !== s.f) problems.push(`${to}: ${s.f} uses a global ${n} that ${d.f} declares`);
      const l = locals.get(n);
      if (l && l.f !== s.f) problems.push(`${to}: ${s.f} uses a global ${n} that ${l.f} imports`);
    }
  // un-export what only siblings import
  const inside = new Set(froms);
  let body = "";
  for (const s of sources)
    for (const p of s.parts) {
      let t = p.text;
      if (p.exported && froms.length > 1) {
        const by = p.names.flatMap((n) => [
          ...(uses.get(s.f)?.get(n) ?? []),
          ...(uses.get(s.f)?.get("*") ?? []),
        ]);
        if (by.length > 0 && by.every((f) => inside.has(f)))
          t = t.replace(/^((?:\s|\/\*[\s\S]*?\*\/|\/\/[^\n]*\n)*)export /, "$1");
      }
      body += t.startsWith("\n\n") || body === "" ? t : t.startsWith("\n") && s.parts[0] !== p ? t : `\n${t}`;
    }
  const heads = [...new Set(sources.map((s) => s.head.trim()).filter(Boolean))].join("\n");
  const imports = importsText(sources.flatMap((s) => s.imports));
  const re = sources.flatMap((s) => s.reexports).join("\n");
  const directives = [...new Set(sources.flatMap((s) => s.directives))].join("\n");
  if (directives && sources.some((s) => s.directives.length === 0))
    console.error(
      `  ${to}: ${directives} of ${sources.filter((s) => s.directives.length).map((s) => basename(s.f))}`,
    );
  output.set(to, `${[directives, heads, imports, re, body.trim()].filter(Boolean).join("\n\n")}\n`);
}

// Everything else that names a moved file.
const rewritten = new Map();
for (const [f, sf] of parsed) {
  if (moved.has(f) && map.modules[moved.get(f)]) continue;
  const at = newOf(f);
  const text = read(f);
  const edits = [];
  const decls = new Map();
  visit(sf, (n) => {
    if (!ts.isStringLiteralLike(n) || !/^\.\.?(\/|$)/.test(n.text)) return;
    const r = resolve(f, n.text);
    if (!r) return;
    const isSame = at === f && newOf(r.file) === r.file;
    const next = isSame ? n.text : specTo(at, newOf(r.file), r.style, r.query);
    if (next !== n.text) edits.push([n.getStart() + 1, n.end - 1, next]);
    if (ts.isImportDeclaration(n.parent) && n.parent.importClause) {
      if (!decls.has(next)) decls.set(next, []);
      decls.get(next).push(n.parent);
    }
  });
  if (edits.length === 0 && at === f) continue;
  // several imports of one module become one
  for (const [spec, list] of decls) {
    if (list.length < 2 || !edits.some(([a]) => list.some((d) => a > d.getStart() && a < d.end))) continue;
    const joined = importsText(list.map((d) => ({ spec, clause: d.importClause })));
    for (const [i, d] of list.entries()) {
      for (let k = edits.length - 1; k >= 0; k--)
        if (edits[k][0] > d.getStart() && edits[k][0] < d.end) edits.splice(k, 1);
      edits.push([d.getStart(), d.end, i === 0 ? joined : ""]);
    }
  }
  rewritten.set(f, apply(text, edits));
}

// Paths in documents and configuration, and in strings of code that are written from the repository's root.
const TEXTS =
  /\.(md|mdx|json|jsonc|mjs|ts|tsx|mts|yml|yaml|css|html|txt|toml|sh|py)$|Dockerfile|\.dockerignore/;
const SKIP = /pnpm-lock|CHANGELOG|fixtures\/|\.jsonl$/;
for (const f of tracked) {
  if (!TEXTS.test(f) || SKIP.test(f)) continue;
  if (moved.has(f) && map.modules[moved.get(f)] && CODE.test(f)) continue;
  const text = rewritten.get(f) ?? read(f);
  const at = newOf(f);
  const next = text.replace(
    /(?<![\w@/.-])((?:\.{1,2}\/)+|packages\/|apps\/|src\/|e2e\/|scripts\/|bench\/|chaos\/|patches\/)[\w./@[\]-]*\.(?:ts|tsx|mjs|mts|py)\b/g,
    (token) => {
      const own = packageOf(f);
      if (token.startsWith(".")) {
        if (CODE.test(f)) return token;
        const full = posix.normalize(posix.join(dirname(f), token));
        if (!exists.has(full) || (newOf(full) === full && at === f)) return token;
        return specTo(at, newOf(full), "same");
      }
      if (moved.has(token)) return newOf(token);
      const inPackage = posix.join(own, token);
      if (own && token.startsWith("src/") && moved.has(inPackage))
        return posix.relative(own, newOf(inPackage));
      return token;
    },
  );
  if (next !== text || rewritten.has(f)) rewritten.set(f, next);
}
function packageOf(f) {
  for (let d = dirname(f); d !== "."; d = dirname(d)) if (exists.has(`${d}/package.json`)) return d;
  return "";
}

for (const p of [...new Set(problems)]) console.error(`! ${p}`);
console.error(
  `${moved.size} files move into ${new Set(moved.values()).size}; ${rewritten.size} files rewritten; ${problems.length} problems`,
);
if (dry || (problems.length > 0 && !process.argv.includes("--force"))) process.exit(problems.length ? 1 : 0);

for (const [f, text] of styleOutput) output.set(f, text);
const removed = new Set();
for (const [from, to] of moved) {
  const isModule = (Boolean(map.modules[to]) && CODE.test(from)) || styleOutput.has(to);
  const content = isModule ? undefined : (rewritten.get(from) ?? readFileSync(join(ROOT, from)));
  if (from !== to) removed.add(from);
  if (content !== undefined) output.set(to, content);
}
for (const f of removed) if (!output.has(f)) rmSync(join(ROOT, f));
for (const [f, text] of rewritten) if (!moved.has(f)) writeFileSync(join(ROOT, f), text);
for (const [f, text] of output) {
  mkdirSync(dirname(join(ROOT, f)), { recursive: true });
  writeFileSync(join(ROOT, f), text);
}
