import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createAgentClient, currentMessages, type ThreadHandle } from "@throughline/agent-client";
import { envelopeSchema } from "@throughline/ai-core";
import { loadProjectGraphs } from "@throughline/graph-executor";
import { createHandler, createService, devCaller } from "@throughline/langgraph-server";
import { applyEntry, emptyThreadProjection } from "@throughline/reading";
import { expect, it, onTestFinished } from "vitest";
import { readEvents } from "../../packages/langgraph-server/src/testing/sse-events.js";
import { until } from "../client/shown.js";
import { writeMarkdownFiles } from "./markdown-files.js";
import { serveHandler } from "./serve-handler.js";

const ROOT = resolve(import.meta.dirname, "../..");

/** The files of a guide, in a folder that is deleted with the test. */
function filesOf(guide: string): { readonly folder: string; readonly files: readonly string[] } {
  const folder = mkdtempSync(join(ROOT, "e2e/.guide-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return { folder, files: writeMarkdownFiles(join(ROOT, "docs/guides", guide), folder) };
}

it("The guides' graphs are served as they stand there, and the guide's face shows a late joiner all that was said", {
  timeout: 60_000,
}, async () => {
  const { folder, files } = filesOf("add-a-graph.md");
  expect(files).toEqual(["langgraph.json", "src/orders.ts", "src/brief.ts"]);
  const orders = await loadProjectGraphs(join(folder, "langgraph.json"));
  expect((await orders.list()).map(({ graphName }) => graphName)).toEqual(["orders"]);

  const both = { orders: "./src/orders.ts:graph", brief: "./src/brief.ts:graph" };
  writeFileSync(join(folder, "langgraph.json"), JSON.stringify({ graphs: both }));
  const graphs = await loadProjectGraphs(join(folder, "langgraph.json"));
  const service = await createService({ store: { kind: "memory" }, graphs });
  const handler = createHandler({ service, caller: devCaller() });
  const server = await serveHandler(handler);
  const client = createAgentClient({ url: `${server.url}/api/copilotkit` });
  onTestFinished(async () => {
    client.close();
    await server.stop();
    await handler.close();
    await service.close({ drainMs: 0 });
  });
  const lastOf = (thread: ThreadHandle) => currentMessages(thread.getSnapshot().view).at(-1)?.content;

  const lamps = client.thread("langgraph:orders", "lamps");
  lamps.open();
  await lamps.send("two lamps");
  await until(lamps, ({ view }) => view.interrupts.length === 1);
  const [question] = lamps.getSnapshot().view.interrupts;
  expect(JSON.stringify(question)).toContain("Order two lamps?");
  await lamps.answer(question?.id ?? "", true);
  await until(lamps, ({ view }) => view.run?.status === "success");
  expect(lastOf(lamps)).toBe("Ordered.");

  const brief = client.thread("langgraph:brief", "tide");
  brief.open();
  await brief.send("The tide is high");
  await until(brief, ({ view }) => view.run?.status === "success");
  expect(lastOf(brief)).toBe("In brief: The tide is high");

  const log = await readEvents(await fetch(`${server.url}/agents/brief/threads/tide/events?follow=false`));
  const entries = log.map(({ data }, index) => ({
    epoch: "e",
    seq: index + 1,
    envelope: envelopeSchema.parse(data),
  }));
  const folds = [emptyThreadProjection];
  for (const entry of entries) folds.push(applyEntry(folds.at(-1) ?? emptyThreadProjection, entry));
  const face = await plainTextFace();
  for (const [at, fold] of folds.entries()) {
    const rest = entries.slice(at).map((entry, ahead) => face.text(folds[at + ahead], entry));
    expect(face.prelude(fold) + rest.join("")).toBe("In brief: The tide is high");
  }
});

/** Of `add-a-face.md`, as if it stood where the guide puts it. */
async function plainTextFace() {
  const { folder, files } = filesOf("add-a-face.md");
  expect(files).toEqual(["plain-text.ts"]);
  const file = join(folder, "plain-text.ts");
  const faces = join(ROOT, "packages/reading/src/faces");
  const source = readFileSync(file, "utf8");
  writeFileSync(
    file,
    source.replaceAll(/"(\.\.?\/[^"]+)"/g, (_, path) => `"${join(faces, path)}"`),
  );
  return (await import(file)).plainTextFace;
}
