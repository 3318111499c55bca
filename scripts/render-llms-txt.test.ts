import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { firstSentence, renderLlmsTxt } from "./render-llms-txt.mjs";
import { root } from "./workspace-packages.mjs";

describe("llms.txt", () => {
  const links = [...renderLlmsTxt().matchAll(/\]\(([^)]+)\)/g)].map(([, path]) => path ?? "");

  it("names files that exist, each once", () => {
    expect(links.filter((path) => !existsSync(join(root, path)))).toEqual([]);
    expect(new Set(links).size).toBe(links.length);
  });

  it("names every page of the docs", () => {
    const pages = readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md"));
    expect(pages.filter((name) => !links.includes(`docs/${name}`))).toEqual([]);
  });

  it("says of each page what it is, in a sentence", () => {
    for (const line of renderLlmsTxt().match(/^- \[.*\]\(docs\/[^/]*\).*$/gm) ?? []) {
      expect(line).toMatch(/: .{10,}\.$/);
    }
  });
});

it("takes a page's first sentence, without links, code and comments before it", () => {
  const page =
    "<!-- made -->\n# Title\n\n```sh\nnpm start\n```\n\nIt [starts](a.md) version 1.0\nof it. And more.\n";
  expect(firstSentence(page)).toBe("It starts version 1.0 of it.");
});
