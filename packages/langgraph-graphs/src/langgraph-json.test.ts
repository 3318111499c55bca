import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { LANGGRAPH_CATALOG } from "./catalog.js";
import { langgraphDocument, renderLanggraphJson } from "./langgraph-json.js";
import * as serve from "./serve.js";

describe("langgraph.json", () => {
  it("is what the catalogue says", () => {
    const onDisk = readFileSync(new URL("../langgraph.json", import.meta.url), "utf8");
    expect(onDisk, "langgraph.json is out of date: run npm run generate").toBe(renderLanggraphJson());
  });

  it("names an export that exists for every graph", () => {
    const { graphs } = langgraphDocument(LANGGRAPH_CATALOG);
    expect(Object.keys(graphs).toSorted()).toEqual(Object.keys(serve).toSorted());
    for (const [name, { path }] of Object.entries(graphs)) expect(path).toBe(`./src/serve.ts:${name}`);
  });
});
