import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";

/** A real `langgraph dev` with the six graphs, and a client that knows it and nothing of us. */
export interface DevUpstream {
  readonly url: string;
  /** Starts a run whose log others may read too; gives its id. */
  startRun(threadId: string, graphName: string, text: string, modes?: readonly string[]): Promise<string>;
  /** Ids and states of all runs of a thread. */
  runs(threadId: string): Promise<readonly UpstreamRun[]>;
  stop(): Promise<void>;
}

const runSchema = z.object({ run_id: z.string(), status: z.string() });
type UpstreamRun = z.infer<typeof runSchema>;

export async function startDevUpstream(paceMs: number): Promise<DevUpstream> {
  const cwd = mkdtempSync(join(tmpdir(), "throughline-foreign-"));
  const { startLanggraphDev } = await import("../../../../scripts/langgraph-dev.mjs");
  const server = await startLanggraphDev({
    port: 0,
    quiet: true,
    cwd,
    env: { LITELLM_BASE_URL: "", THROUGHLINE_OFFLINE_PACE_MS: String(paceMs) },
  });

  async function ask(path: string, body?: object): Promise<unknown> {
    const response = await fetch(`${server.url}${path}`, {
      ...(body && { method: "POST", body: JSON.stringify(body) }),
      headers: { "content-type": "application/json" },
    });
    if (!response.ok) throw new Error(`${path} was answered with ${response.status}.`);
    return response.json();
  }

  return {
    url: server.url,
    async startRun(threadId, graphName, text, modes = ["messages-tuple", "values", "tasks"]) {
      await ask("/threads", { thread_id: threadId, if_exists: "do_nothing" });
      const run = await ask(`/threads/${threadId}/runs`, {
        assistant_id: graphName,
        input: { messages: [{ type: "human", content: text }] },
        stream_mode: modes,
        stream_resumable: true,
      });
      return runSchema.parse(run).run_id;
    },
    runs: async (threadId) => z.array(runSchema).parse(await ask(`/threads/${threadId}/runs`)),
    async stop() {
      await server.stop();
      rmSync(cwd, { recursive: true, force: true });
    },
  };
}
