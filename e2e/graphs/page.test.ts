import { readFileSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { PAGE_BEGIN, PAGE_END, renderGallery } from "./gallery-page.js";

const PAGE = new URL("../../docs/graphs.md", import.meta.url);

it("docs/graphs.md lists the gallery; UPDATE_GALLERY=1 rewrites it", () => {
  const page = readFileSync(PAGE, "utf8");
  const [before = "", rest = ""] = page.split(PAGE_BEGIN);
  const [, after = ""] = rest.split(PAGE_END);
  const expected = `${before}${PAGE_BEGIN}\n\n${renderGallery()}\n\n${PAGE_END}${after}`;
  if (process.env.UPDATE_GALLERY === "1") writeFileSync(PAGE, expected);
  else expect(page).toBe(expected);
});
