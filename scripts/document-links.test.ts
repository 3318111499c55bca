import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { root } from "./workspace-packages.mjs";

test("every file that a document links to is there", () => {
  const documents = execFileSync("git", ["ls-files", "*.md"], { cwd: root, encoding: "utf8" })
    .split("\n")
    .filter((file) => file !== "" && existsSync(join(root, file)) && !file.includes("/fixtures/"));
  const broken = documents.flatMap((file) => {
    // Code is no link.
    const prose = readFileSync(join(root, file), "utf8")
      .replace(/^```[\s\S]*?^```/gm, "")
      .replace(/`[^`\n]*`/g, "");
    const links = [...prose.matchAll(/\]\((?!https?:|mailto:|#)([^)\s#]+)(?:#[^)\s]*)?\)/g)];
    return links
      .map(([, path = ""]) => path)
      .filter((path) => !existsSync(join(root, dirname(file), decodeURIComponent(path))))
      .map((path) => `${file}: ${path}`);
  });
  expect(broken).toEqual([]);
});
