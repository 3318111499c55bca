import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { createLangGraphDevProvider } from "@throughline/graph-executor";
import { afterAll, beforeAll, describe } from "vitest";
import { startUpstreamServer, type UpstreamServer } from "../executor/upstream-server.js";
import { GALLERY } from "./gallery.js";
import { describeGallery, GALLERY_FOLDER, langgraphJson } from "./gallery-suite.js";
import { type GalleryService, startGalleryService } from "./served-graph.js";

let upstream: UpstreamServer;
let service: GalleryService;
const folder = mkdtempSync(join(tmpdir(), "throughline-gallery-"));
beforeAll(async () => {
  const config = join(folder, "langgraph.json");
  const entries = GALLERY.filter(({ server }) => typeof server !== "string");
  writeFileSync(config, JSON.stringify(langgraphJson(relative(folder, GALLERY_FOLDER), entries)));
  upstream = await startUpstreamServer({ project: pathToFileURL(config) });
  const declared = entries.flatMap(({ name, server }) =>
    typeof server === "object" && server.outputs ? [{ graphName: name, outputs: server.outputs }] : [],
  );
  service = await startGalleryService(createLangGraphDevProvider({ url: upstream.url, declared }));
});
afterAll(async () => {
  await service?.close();
  await upstream?.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe("On a LangGraph server", () => describeGallery("server", () => service));
