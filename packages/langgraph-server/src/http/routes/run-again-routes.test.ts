import { randomUUID } from "node:crypto";
import type { LogEntry } from "@throughline/ai-core";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { describeEachStore } from "../../testing/describe-each-store.js";
import { createScriptedProvider } from "../../testing/scripted-provider.js";
import { readEvents } from "../../testing/sse-events.js";
import { testPerson } from "../../testing/test-person.js";
import { startTestServer, type TestServer } from "../../testing/test-server.js";

/** What a run leaves is seen a moment after its stream has ended. */
const PATIENT = { timeout: 10_000 };

function talker(server: () => TestServer, agent: string) {
  const headers = { "x-throughline-account": `a-${randomUUID()}`, "x-throughline-subject": "ann" };
  const { ask } = testPerson(server, headers);
  const thread = `/agents/${agent}/threads/t`;
  return {
    ask,
    headers,
    thread,
    async say(content: string, more: object = {}) {
      const body = { threadId: "t", messages: [{ id: randomUUID(), role: "user", content }], ...more };
      return readEvents(await server().post(`/api/copilotkit/agent/${agent}/run`, body, headers));
    },
    async messages(): Promise<{ id: string; role: string; content: string }[]> {
      return (await ask("GET", `${thread}/state`)).body.messages;
    },
    async ended(runId: string) {
      return vi.waitFor(async () => {
        const { body } = await ask("GET", `${thread}/runs`);
        const run = body.runs.find((each: { runId: string }) => each.runId === runId);
        expect(run.endedAt).not.toBeNull();
        return run;
      }, PATIENT);
    },
    async entries(): Promise<LogEntry["envelope"][]> {
      const response = await fetch(`${server().url}${thread}/events?follow=false`, { headers });
      return (await readEvents(response)).map(({ data }) => data as unknown as LogEntry["envelope"]);
    },
  };
}

describeEachStore("An answer is made again, kept in %s,", (storeOf) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ store: storeOf() });
  });
  afterAll(() => server.close());

  it("from the checkpoint before it, and what stood behind it is taken back when the run begins", async () => {
    const ann = talker(() => server, "chat");
    await ann.say("What is 2 + 2?");
    await ann.say("What is 3 + 3?");
    const before = await ann.messages();
    const answer = before.findIndex(({ role, content }) => role === "assistant" && content.includes("= 4"));
    const again = await ann.ask("POST", `${ann.thread}/regenerate`, { messageId: before[answer]?.id });
    expect(again).toMatchObject({
      status: 202,
      body: { runId: expect.any(String), checkpointId: expect.any(String) },
    });
    expect(await ann.ended(again.body.runId)).toMatchObject({ status: "success" });
    const after = await ann.messages();
    expect(after.map(({ content }) => content)).toEqual(
      before.slice(0, answer + 1).map(({ content }) => content),
    );
    const own = (await ann.entries()).filter(({ run_id }) => run_id === again.body.runId);
    expect(own.slice(0, 2)).toMatchObject([
      { type: "run_start" },
      {
        type: "retract",
        payload: { reason: "went_back", message_ids: before.slice(answer).map(({ id }) => id) },
      },
    ]);
    expect(await ann.say("And now?")).not.toContainEqual(
      expect.objectContaining({ data: { type: "RUN_ERROR" } }),
    );
  });

  it("and a question that was open is set aside", async () => {
    const ann = talker(() => server, "travel");
    await ann.say("Plan a trip from Amsterdam to San Francisco");
    const asked = await ann.ask("GET", `${ann.thread}/state`);
    const messageId = asked.body.messages.find(({ role }: { role: string }) => role === "assistant").id;
    const again = await ann.ask("POST", `${ann.thread}/regenerate`, { messageId });
    expect(await ann.ended(again.body.runId)).toMatchObject({ status: "interrupted" });
    const waiting = await ann.ask("GET", "/waiting");
    expect(waiting.body.questions).toHaveLength(1);
  });

  it("unless there is no such message, or the caller may not run", async () => {
    const ann = talker(() => server, "chat");
    await ann.say("Hello");
    const [said, answer] = await ann.messages();
    const regenerate = (messageId: string | undefined) =>
      ann.ask("POST", `${ann.thread}/regenerate`, { messageId });
    expect(await regenerate("none")).toMatchObject({ status: 404, body: { code: "not_found" } });
    expect(await regenerate(said?.id)).toMatchObject({ status: 400, body: { code: "invalid_input" } });
    const viewer = testPerson(() => server, { ...ann.headers, "x-throughline-role": "viewer" });
    const body = { messageId: answer?.id };
    expect(await viewer.ask("POST", `${ann.thread}/regenerate`, body)).toMatchObject({ status: 403 });
    expect(await ann.ask("POST", `${ann.thread}/retry`, {})).toMatchObject({
      status: 409,
      body: { code: "conflict", message: "The last run of this thread did not fail." },
    });
  });
});

describe("A run that was stopped before it stored anything", () => {
  it("is tried again with the same words", async () => {
    const provider = createScriptedProvider();
    const server = await startTestServer({ graphs: { ...provider, getState: async () => undefined } });
    const ann = talker(() => server, "scripted");
    const first = ann.say("Go", { runId: "first" });
    await provider.nextRun();
    await server.post("/api/copilotkit/agent/scripted/stop/t", {}, ann.headers);
    await first;
    const retried = await ann.ask("POST", `${ann.thread}/retry`, { runId: "second" });
    expect(retried.status).toBe(202);
    const run = await provider.nextRun();
    expect(run.request.start).toMatchObject({ kind: "input", messages: [{ role: "user", content: "Go" }] });
    run.end();
    expect(await ann.ended(retried.body.runId)).toMatchObject({ status: "success", clientRunId: "second" });
    await server.close();
  });
});
