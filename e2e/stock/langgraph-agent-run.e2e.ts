import { randomUUID } from "node:crypto";
import type { LangGraphAgent } from "@ag-ui/langgraph";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AgentStage, SLOW, startAgentStage, textIn, until } from "./rig/agent-stage.js";

let stage: AgentStage;
beforeAll(async () => {
  stage = await startAgentStage();
}, 300_000);
afterAll(() => stage?.server.stop());

describe("what makes connect() wrong is mended in run() too", () => {
  const messageOf = (content: string) => ({ id: randomUUID(), role: "user" as const, content });

  async function runOn(agent: LangGraphAgent, script: object, during?: (text: string) => void) {
    const events: { type: string; runId?: string; message?: string }[] = [];
    agent.setState({ script });
    agent.addMessage(messageOf("Tell me."));
    const rejected = await agent
      .runAgent(
        {},
        {
          onEvent: ({ event }) => {
            events.push(event);
            during?.(textIn(events));
          },
        },
      )
      .then(
        () => undefined,
        (error: unknown) => String(error),
      );
    return { events, rejected };
  }

  test("a failing run says why, and nothing after it", async () => {
    const [patched, unpatched] = [
      stage.agentOn(await stage.newThread()),
      stage.unpatchedOn(await stage.newThread()),
    ];
    const { events, rejected } = await runOn(patched, { fails: true });
    expect(rejected).toBeUndefined();
    expect(events.at(-1)).toMatchObject({ type: "RUN_ERROR", message: "the well is dry" });
    expect((await runOn(unpatched, { fails: true })).rejected).toContain("already errored");
  });

  test("a stopped run closes what it had begun, under one run id", async () => {
    const stopAt = (agent: LangGraphAgent) => (text: string) => {
      if (text.endsWith("word-5 ")) agent.abortRun();
    };
    const patched = stage.agentOn(await stage.newThread());
    const { events, rejected } = await runOn(patched, SLOW, stopAt(patched));
    expect(rejected).toBeUndefined();
    expect(events.at(-1)).toMatchObject({ type: "RUN_FINISHED", runId: events[0]?.runId });
    const [run] = await stage.client.runs.list(patched.threadId);
    expect(run).toMatchObject({ status: "interrupted" });

    const unpatched = stage.unpatchedOn(await stage.newThread());
    const stock = await runOn(unpatched, SLOW, stopAt(unpatched));
    const finish = stock.events.findLast(({ type }) => type === "RUN_FINISHED");
    expect(stock.rejected !== undefined || finish?.runId !== stock.events[0]?.runId).toBe(true);
  });

  test("a stop before the server has answered stops the run", async () => {
    const stopAtOnce = async (agent: LangGraphAgent) => {
      agent.setState({ script: SLOW });
      agent.addMessage(messageOf("Tell me."));
      const running = agent.runAgent().catch(() => undefined);
      await until(
        () => agent.activeRun?.graphInfo ?? agent.assistant,
        (known) => known !== undefined,
      );
      agent.abortRun();
      await running;
      const runs = await stage.client.runs.list(agent.threadId);
      return Promise.all(runs.map(({ run_id }) => stage.ended(agent.threadId, run_id)));
    };
    const patched = await stopAtOnce(stage.agentOn(await stage.newThread()));
    expect(patched.map(({ status }) => status).filter((status) => status === "success")).toEqual([]);
    const unpatched = await stopAtOnce(stage.unpatchedOn(await stage.newThread()));
    expect(unpatched).toMatchObject([{ status: "success" }]);
  });
});
