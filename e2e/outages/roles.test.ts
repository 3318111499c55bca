import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SseEvent } from "../../packages/langgraph-server/src/testing/sse-events.js";
import { type Follower, followThread } from "../server/follower.js";
import { type AgentRoutes, agentRoutes, said } from "../server/rig/agent-routes.js";
import { type RigPostgres, startPostgres } from "../server/rig/start-postgres.js";
import { type ServeProcess, startServeProcess } from "./rig/serve-process.js";

const PROJECT = fileURLToPath(new URL("./graphs/langgraph.json", import.meta.url));
/** Longer than any test: the worker that runs it does nothing else and is killed with it. */
const BURN_MS = 600_000;
const PACE_MS = 50;

/** A run and someone who follows its thread from before it began. */
interface Begun extends Follower {
  readonly runId: string;
}

describe("Workers of their own, one of which runs a graph that burns CPU", () => {
  let postgres: RigPostgres;
  let workers: readonly ServeProcess[];
  let routes: AgentRoutes;
  let burning: Begun;
  const running: ServeProcess[] = [];

  beforeAll(async () => {
    postgres = await startPostgres();
    const databaseUrl = await postgres.createDatabase();
    const start = async (role: string) => {
      const env = { LANGGRAPH_DATABASE_URL: databaseUrl, THROUGHLINE_ROLES: role };
      const server = await startServeProcess(["--config", PROJECT], env);
      running.push(server);
      return server;
    };
    const [api, ...others] = await Promise.all([start("api"), start("worker"), start("worker")]);
    workers = others;
    routes = agentRoutes(api.url);
    burning = await begin("burner", { burnMs: BURN_MS, sliceMs: BURN_MS });
    await burning.seen(ofRun(burning, "RUN_STARTED"));
  }, 90_000);
  afterAll(async () => {
    burning?.leave();
    for (const { child } of running) child.kill("SIGKILL");
    await postgres?.stop();
  });

  async function begin(agent: string, state: object): Promise<Begun> {
    const [threadId, runId] = [randomUUID(), randomUUID()];
    const follower = await followThread(routes, agent, threadId);
    const input = { threadId, runId, messages: [said("m1", "Begin")], state, tools: [], context: [] };
    void routes.run(agent, input).catch(() => {});
    return { ...follower, runId };
  }

  /** Not what a stream begins with, which may end a run that never was. */
  function ofRun({ runId }: Begun, type: string): (event: SseEvent) => boolean {
    return ({ data }) => JSON.stringify(data).includes(`"${type}"`) && JSON.stringify(data).includes(runId);
  }

  const hasEnded = (begun: Begun) =>
    begun.events.some((event) => ["RUN_FINISHED", "RUN_ERROR"].some((type) => ofRun(begun, type)(event)));
  const untilEnded = (begun: Begun) => begun.seen(ofRun(begun, "RUN_FINISHED"));
  const textOf = ({ events }: Follower) =>
    events
      .map(({ data }) => data as { readonly type?: string; readonly delta?: string })
      .filter(({ type }) => type === "TEXT_MESSAGE_CONTENT")
      .map(({ delta }) => delta)
      .join("");
  const typed = (tokens: number) => Array.from({ length: tokens }, (_, token) => ` word${token}`).join("");

  it("go on with the streams of all others", async () => {
    const streams = await Promise.all(
      Array.from({ length: 3 }, () => begin("typist", { tokens: 20, firstMs: 0, paceMs: PACE_MS })),
    );
    await Promise.all(streams.map(untilEnded));
    expect(hasEnded(burning)).toBe(false);
    expect(streams.map(textOf)).toEqual(streams.map(() => typed(20)));
    for (const stream of streams) stream.leave();
  });

  it("go on with the streams of all others when that one is killed", async () => {
    const stream = await begin("typist", { tokens: 60, firstMs: 0, paceMs: PACE_MS });
    await stream.seen(({ data }) => JSON.stringify(data).includes("word9"));
    // The one that burns answers nothing.
    const free = await Promise.any(
      workers.map(async (worker) => {
        await fetch(`${worker.url}/metrics`);
        return worker;
      }),
    );
    const doomed = workers.find((worker) => worker !== free);
    doomed?.child.kill("SIGKILL");
    await untilEnded(stream);
    expect(textOf(stream)).toBe(typed(60));
    expect(stream.connections).toHaveLength(1);
    expect(JSON.stringify(stream.events)).not.toContain('"attempt":1');
    expect(hasEnded(burning)).toBe(false);
    stream.leave();
  });
});
