import { Writable } from "node:stream";
import { ThroughlineError, type UpstreamChunk } from "@throughline/ai-core";
import {
  createInProcProvider,
  createMemoryCheckpointer,
  type GraphProvider,
} from "@throughline/graph-executor";
import { afterEach, describe, expect, it } from "vitest";
import { createLogger, logEvents } from "../operations/logging.js";
import { createMetrics } from "../operations/metrics.js";

import type { ServiceOptions } from "../server/create-service.js";
import { catalogGraphs } from "../testing/catalog-graphs.js";
import { ofType } from "../testing/frame-recorder.js";
import { openServiceScene, type ServiceScene } from "../testing/service-scene.js";

/** As LangGraph tells of a node that throws: its task leaves nothing, and the error names the task. */
function failingProvider(): GraphProvider {
  const thrown = Object.assign(new TypeError("no words"), { pregelTaskId: "t1" });
  const error = new ThroughlineError("run_failed", "The graph failed while it ran.", { cause: thrown });
  async function* stream(): AsyncGenerator<UpstreamChunk> {
    yield { ns: [], mode: "tasks", data: { id: "t1", name: "write", input: {} } };
    yield { ns: [], mode: "tasks", data: { id: "t1", name: "write", result: {}, interrupts: [] } };
  }
  return {
    ...createInProcProvider({ graphs: catalogGraphs(), checkpointer: createMemoryCheckpointer().saver }),
    runGraph: () => ({
      stream: stream(),
      final: Promise.resolve({ ok: false, status: "error", error, interrupts: [] }),
    }),
  };
}

describe("A graph that fails", () => {
  let scene: ServiceScene;
  afterEach(() => scene.close());

  async function fail(options: Partial<ServiceOptions> = {}, profile: "user" | "debug" = "user") {
    scene = await openServiceScene({ graphs: failingProvider(), ...options });
    const run = await scene.run(scene.thread("poet"), "Go", { profile });
    return (await run.frame(ofType("RUN_ERROR"))).data;
  }

  it("is told by code, class and node, and not by its own words", async () => {
    expect(await fail()).toMatchObject({
      message: "The graph failed while it ran.",
      code: "run_failed",
      metadata: { throughline: { code: "run_failed", class: "node", node: "write" } },
    });
  });

  it.each([
    ["where the service shows them", { showGraphErrors: true }, "user"],
    ["in the debug profile", {}, "debug"],
  ] as const)("tells its own words %s", async (_, options, profile) => {
    expect((await fail(options, profile)).message).toBe("poet failed in node `write`: TypeError: no words");
  });

  it("is in the operator's log with name, message, stack, run and node", async () => {
    const lines: string[] = [];
    const destination = new Writable({
      write(chunk, _encoding, done) {
        lines.push(String(chunk));
        done();
      },
    });
    const metrics = createMetrics();
    const observer = logEvents({ metrics, logger: createLogger({ level: "info", destination }) });
    await fail({ observer });
    metrics.close();
    const line = lines.map((text) => JSON.parse(text)).find(({ msg }) => msg === "graph failed");
    expect(line).toMatchObject({
      runId: expect.any(String),
      graphId: "langgraph:poet",
      node: "write",
      class: "node",
      error: { type: "TypeError", message: "no words", stack: expect.stringContaining("graph-failure.test") },
    });
  });
});
