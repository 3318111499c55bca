import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { isType, readEvents, type SseEvent, typesOf } from "../testing/sse-events.js";
import { startTestServer, type TestServer } from "../testing/test-server.js";

const RUN = "/api/copilotkit/agent/travel/run";
const CONNECT = "/api/copilotkit/agent/travel/connect";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

const outcomeSchema = z.object({
  type: z.literal("interrupt"),
  interrupts: z.array(
    z.object({
      id: z.string(),
      metadata: z.object({ langgraph: z.object({ raw: z.object({ options: z.array(z.unknown()) }) }) }),
    }),
  ),
});

const callsSchema = z.object({
  calls: z.array(
    z.object({
      kind: z.string(),
      startedBy: z.object({ person: z.string().optional() }).optional(),
      answered: z.array(z.object({ interruptId: z.string(), words: z.string() })).optional(),
    }),
  ),
});

async function send(path: string, body: object): Promise<SseEvent[]> {
  return readEvents(await server.post(path, body));
}

/** A trip that waits for the choice of a flight: the question's id, and what may be chosen. */
async function asked(threadId: string): Promise<{ id: string; options: unknown[] }> {
  const messages = [{ id: `m-${threadId}`, role: "user", content: "from Amsterdam to San Francisco" }];
  const events = await send(RUN, { threadId, messages, protocolVersion: "1.0" });
  const [interrupt] = outcomeSchema.parse(events.at(-1)?.data.outcome).interrupts;
  return { id: interrupt?.id ?? "", options: interrupt?.metadata.langgraph.raw.options ?? [] };
}

const resume = (interruptId: string, payload: unknown) => [{ interruptId, status: "resolved", payload }];
const lastCode = (events: readonly SseEvent[]) => [events.at(-1)?.data.type, events.at(-1)?.data.code];

describe("a question", () => {
  it("is asked again on connect, in the form the client's line knows or the request asks for", async () => {
    await asked("forms");
    const connect = (more: object) => send(CONNECT, { threadId: "forms", ...more });
    const form = (interrupts: string) => ({ forwardedProps: { throughline: { interrupts } } });
    const cases = [
      { sent: {}, legacy: 1, standard: false },
      { sent: { protocolVersion: "1.0" }, legacy: 0, standard: true },
      { sent: form("both"), legacy: 1, standard: true },
      { sent: { protocolVersion: "1.0", ...form("legacy") }, legacy: 1, standard: false },
    ];
    for (const { sent, legacy, standard } of cases) {
      const events = await connect(sent);
      expect(events.filter(({ data }) => data.name === "on_interrupt")).toHaveLength(legacy);
      expect(outcomeSchema.safeParse(events.at(-1)?.data.outcome).success).toBe(standard);
    }
  });

  it("takes an answer in either form, whatever form it was asked in", async () => {
    const standard = await asked("either-1");
    const answers = resume(standard.id, standard.options[0]);
    const byId = await send(RUN, { threadId: "either-1", resume: answers });
    expect(byId.filter(({ data }) => data.name === "on_interrupt")).toHaveLength(1);
    const legacy = await asked("either-2");
    const command = { resume: legacy.options[0] };
    const byValue = await send(RUN, {
      threadId: "either-2",
      protocolVersion: "1.0",
      forwardedProps: { command },
    });
    expect(outcomeSchema.safeParse(byValue.at(-1)?.data.outcome).success).toBe(true);
    const named = await asked("either-3");
    const withId = { resume: named.options[1], interruptId: named.id };
    expect(
      typesOf(await send(RUN, { threadId: "either-3", forwardedProps: { command: withId } })).at(-1),
    ).toBe("RUN_FINISHED");
  });

  it("must be answered before anything new", async () => {
    const { id } = await asked("pending");
    const messages = [{ id: "other", role: "user", content: "something else" }];
    const events = await send(RUN, { threadId: "pending", messages });
    expect(lastCode(events)).toEqual(["RUN_ERROR", "interrupt_pending"]);
    expect(JSON.stringify(events.at(-1)?.data)).toContain(id);
  });

  it("is answered once: the same answer attaches, another one is a conflict", async () => {
    const { id, options } = await asked("once");
    const first = await send(RUN, { threadId: "once", resume: resume(id, options[0]) });
    const again = await send(RUN, { threadId: "once", resume: resume(id, options[0]) });
    expect(again.map((event) => event.id)).toEqual(first.map((event) => event.id));
    const other = await send(RUN, { threadId: "once", resume: resume(id, options[1]) });
    expect(lastCode(other)).toEqual(["RUN_ERROR", "conflict"]);
    const twice = await send(RUN, { threadId: "once", resume: [...resume(id, 1), ...resume(id, 2)] });
    expect(lastCode(twice)).toEqual(["RUN_ERROR", "invalid_input"]);
    const nobody = await send(RUN, { threadId: "once", resume: resume("never-asked", 1) });
    expect(lastCode(nobody)).toEqual(["RUN_ERROR", "conflict"]);
  });

  it("takes an answer that was sent twice at once as one, also in the form that names no question", async () => {
    const { options } = await asked("at once");
    const flight = { threadId: "at once", forwardedProps: { command: { resume: options[0] } } };
    const hotels = (await send(RUN, flight)).find(({ data }) => data.name === "on_interrupt");
    const command = { resume: JSON.parse(String(hotels?.data.value)).options[0] };
    const hotel = { threadId: "at once", runId: "hotel", forwardedProps: { command } };
    const first = await send(RUN, hotel);
    // The second one looked for its run before the first one's was there.
    const { registry } = server.service;
    const { look } = registry;
    vi.spyOn(registry, "look").mockImplementationOnce((request) => look({ ...request, alias: undefined }));
    const second = await send(RUN, hotel);
    expect(typesOf(first).at(-1)).toBe("RUN_FINISHED");
    expect(second.map((event) => event.id)).toEqual(first.map((event) => event.id));
  });

  it("P92: is answered by a person, and log and calls say who and what, also to those who come later", async () => {
    const account = { "x-throughline-account": "acme" };
    const ann = { ...account, "x-throughline-subject": "ann" };
    const bob = { ...account, "x-throughline-subject": "bob" };
    const shared = {
      threadId: "whose",
      forwardedProps: { throughline: { visibility: "account", calls: true } },
    };
    const messages = [{ id: "m-whose", role: "user", content: "from Amsterdam to San Francisco" }];
    const first = await readEvents(
      await server.post(RUN, { ...shared, messages, protocolVersion: "1.0" }, ann),
    );
    const [interrupt] = outcomeSchema.parse(first.at(-1)?.data.outcome).interrupts;
    const { id = "", metadata } = interrupt ?? {};
    const [, chosen] = metadata?.langgraph.raw.options ?? [];
    await readEvents(await server.post(RUN, { ...shared, resume: resume(id, chosen) }, bob));

    const query = "?follow=0&visibility=account";
    const log = await readEvents(
      await fetch(`${server.url}/agents/travel/threads/whose/events${query}`, { headers: ann }),
    );
    const starts = log.filter(({ data }) => data.type === "run_start").map(({ data }) => data.payload);
    expect(starts).toMatchObject([
      { answers: [], started_by: { kind: "client", person: "ann" } },
      { answers: [id], given: { [id]: chosen }, started_by: { kind: "client", person: "bob" } },
    ]);
    const late = await readEvents(await server.post(CONNECT, shared, ann), isType("RUN_FINISHED"));
    const told = late.find(({ data }) => data.name === "throughline.calls");
    const { calls } = callsSchema.parse(told?.data.value);
    const runs = calls.filter(({ kind }) => kind === "run");
    expect(runs.map(({ startedBy }) => startedBy?.person)).toEqual(["ann", "bob"]);
    expect(runs.map(({ answered }) => answered)).toEqual([
      undefined,
      [{ interruptId: id, words: expect.stringMatching(/^chose /) }],
    ]);
  });

  it("can be dismissed, which the graph is told", async () => {
    const { id } = await asked("dismissed");
    const events = await send(RUN, {
      threadId: "dismissed",
      resume: [{ interruptId: id, status: "cancelled" }],
    });
    // This graph asks again for a choice it can't read.
    expect(events.find(isType("RUN_STARTED"))).toBeDefined();
    expect(typesOf(events).at(-1)).toBe("RUN_FINISHED");
  });
});
