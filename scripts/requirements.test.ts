import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "./workspace-packages.mjs";

const DOCS = join(root, "docs");
const page = readFileSync(join(DOCS, "requirements.md"), "utf8");
const ids = [...page.matchAll(/^- <a id="([a-z]+-\d+)"><\/a>\*\*([a-z]+-\d+)\*\*/gm)];
const COUNTS = { connect: 9, agui: 6, dev: 6, server: 28, stream: 19, client: 12 };

/** Files that are committed or about to be; where there is no git, as in a container's build, the page alone. */
function trackedFiles(): string[] {
  try {
    const args = ["ls-files", "--cached", "--others", "--exclude-standard"];
    return execFileSync("git", args, { cwd: root, encoding: "utf8", maxBuffer: 1e8 }).trim().split("\n");
  } catch {
    return ["docs/requirements.md"];
  }
}

test("every requirement has an anchor of its own, and none is missing", () => {
  for (const [, anchor, shown] of ids) expect(anchor).toBe(shown);
  const expected = Object.entries(COUNTS).flatMap(([name, count]) =>
    Array.from({ length: count }, (_, at) => `${name}-${at + 1}`),
  );
  expect(ids.map(([, anchor]) => anchor)).toEqual(expected);
});

test("every requirement names a test that is there, or the reason why it is met differently", () => {
  const entries = page.split(/^- (?=<a id=)/m).slice(1);
  for (const entry of entries) expect(entry, entry.slice(0, 80)).toMatch(/^ {2}- (?:test|differs): /m);
  const tests = [...page.matchAll(/^ {2}- test: \[[^\]]*\]\(([^)]+)\): (.+)$/gm)];
  expect(tests.length).toBe([...page.matchAll(/^ {2}- test: /gm)].length);
  const missing = tests.filter(([, path = "", name = ""]) => {
    const file = join(DOCS, path);
    const literal = name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/"/g, '\\\\?"');
    return !existsSync(file) || !new RegExp(`\\(\\s*(["'\`])${literal}\\1`).test(readFileSync(file, "utf8"));
  });
  expect(missing.map(([line]) => line)).toEqual([]);
});

test("every file that the page links to is there", () => {
  const links = [...page.matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)].map(([, path = ""]) => path);
  expect(links.filter((path) => !existsSync(join(DOCS, path)))).toEqual([]);
});

test("every requirement that code, tests or documents refer to is on the page", () => {
  const known = new Set(ids.map(([, anchor]) => anchor));
  const dangling = trackedFiles()
    .filter((file) => /\.(?:[cm]?[jt]sx?|md|ya?ml)$/.test(file) && existsSync(join(root, file)))
    .flatMap((file) => {
      const text = readFileSync(join(root, file), "utf8");
      const referred = [...text.matchAll(/requirements\.md#([a-z]+-\d+)/g)].map(([, anchor]) => anchor);
      return referred.filter((anchor) => !known.has(anchor)).map((anchor) => `${file}: ${anchor}`);
    });
  expect(dangling).toEqual([]);
});
