import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { loadProjectGraphs } from "@throughline/graph-executor";
import { afterAll, beforeAll, describe } from "vitest";
import { describeGallery, GALLERY_FOLDER, langgraphJson } from "./gallery-suite.js";
import { type GalleryService, startGalleryService } from "./served-graph.js";

let service: GalleryService;
const folder = mkdtempSync(join(tmpdir(), "throughline-gallery-"));
beforeAll(async () => {
  const config = join(folder, "langgraph.json");
  writeFileSync(config, JSON.stringify(langgraphJson(relative(folder, GALLERY_FOLDER))));
  service = await startGalleryService(await loadProjectGraphs(config));
});
afterAll(async () => {
  await service?.close();
  rmSync(folder, { recursive: true, force: true });
});

describe("In this process", () => describeGallery("inProcess", () => service));
