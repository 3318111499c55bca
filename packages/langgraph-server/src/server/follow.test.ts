import { createSimulatedClock } from "@throughline/ai-core";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createScriptedProvider } from "../testing/scripted-provider.js";
import { isType, readEvents, type SseEvent, sseEvents } from "../testing/sse-events.js";
import { startTestServer, type TestServer, type TestServerOptions } from "../testing/test-server.js";

const FOLLOW = "/api/copilotkit/follow";
const RUN = "/api/copilotkit/agent/scripted/run";

let server: TestServer;
afterEach(() => server.close());

async function start(options: TestServerOptions = {}) {
  const provider = createScriptedProvider();
  server = await startTestServer({ graphs: provider, ...options });
  return provider;
}

interface Asked {
  readonly threadId: string;
  readonly agentId?: string;
  readonly view?: "ag-ui" | "envelopes";
  readonly cursor?: string | undefined;
  readonly visibility?: string;
}

function follow(subscriptions: readonly Asked[], query = "", headers: Record<string, string> = {}) {
  const asked = subscriptions.map((one) => ({ agentId: "scripted", view: "ag-ui", ...one }));
  return server.post(`${FOLLOW}${query}`, { subscriptions: asked }, headers);
}

const go = (threadId: string) => ({
  threadId,
  messages: [{ id: `m-${threadId}`, role: "user", content: `go ${threadId}` }],
});

/** Starts a run that says these words, one by one, and ends. */
async function say(provider: ReturnType<typeof createScriptedProvider>, threadId: string, words: string[]) {
  const answer = server.post(RUN, go(threadId));
  const run = await provider.nextRun();
  for (const word of words) run.say(word);
  run.end();
  await readEvents(await answer);
}

const named = (events: readonly SseEvent[], name: string) => events.filter(({ event }) => event === name);
const idsOf = (events: readonly SseEvent[]) => events.flatMap(({ id }) => id ?? []);

async function metric(name: string): Promise<number> {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  return Number(
    text
      .split("\n")
      .find((line) => line.startsWith(name))
      ?.split(" ")
      .at(-1),
  );
}

describe("Many threads on one stream", () => {
  it("P88: name the subscription of each frame by its place, and count as one stream and as many watchers", async () => {
    const provider = await start();
    const response = await follow([
      { threadId: "a" },
      { threadId: "b", view: "envelopes" },
      { threadId: "b" },
    ]);
    await vi.waitFor(async () => expect(await metric("throughline_watchers{")).toBe(3));
    expect(await metric("throughline_open_streams{")).toBe(1);
    const reading = readEvents(
      response,
      ({ event, data }) => event === "2" && data.type === "TEXT_MESSAGE_END",
    );
    await say(provider, "b", ["Hello"]);
    const events = await reading;
    expect(named(events, "0").at(-1)?.data).toMatchObject({ type: "RUN_FINISHED", threadId: "a" });
    expect(named(events, "1")[0]?.data).toMatchObject({ type: "run_start" });
    expect(named(events, "2").some(isType("TEXT_MESSAGE_CONTENT"))).toBe(true);
    expect(new Set(events.map(({ event }) => event))).toEqual(new Set(["0", "1", "2"]));
    await vi.waitFor(async () => expect(await metric("throughline_watchers{")).toBe(0));
  });

  it("P89: go on exactly from the cursor of each, wherever the stream was cut", async () => {
    const provider = await start();
    for (const threadId of ["a", "b"]) await say(provider, threadId, ["One ", "two ", "three"]);
    const beginning = (name: string) => ({ threadId: name, cursor: firstCursors.get(name) });
    const firstCursors = new Map<string, string>();
    for (const threadId of ["a", "b"]) {
      const all = await readEvents(
        await fetch(`${server.url}/agents/scripted/threads/${threadId}/events?follow=false`),
      );
      firstCursors.set(threadId, (all[0]?.id ?? "").replace(/\.log$/, ".1s"));
    }
    const whole = await readEvents(await follow([beginning("a"), beginning("b")], "?follow=false"));
    const wholeOf = (name: string) => idsOf(named(whole, name));
    expect(wholeOf("0").length).toBeGreaterThan(4);
    for (const cut of [1, 3, wholeOf("0").length + 2]) {
      const held = new Map<string, string[]>([
        ["0", []],
        ["1", []],
      ]);
      let taken = 0;
      for await (const { event = "", id } of sseEvents(
        await follow([beginning("a"), beginning("b")], "?follow=false"),
      )) {
        if (id !== undefined) held.get(event)?.push(id);
        taken += 1;
        if (taken === cut) break;
      }
      const cursors = ["0", "1"].map((name) => held.get(name)?.at(-1));
      const rest = await readEvents(
        await follow(
          [
            cursors[0] === undefined ? beginning("a") : { threadId: "a", cursor: cursors[0] },
            cursors[1] === undefined ? beginning("b") : { threadId: "b", cursor: cursors[1] },
          ],
          "?follow=false",
        ),
      );
      for (const name of ["0", "1"])
        expect([...(held.get(name) ?? []), ...idsOf(named(rest, name))]).toEqual(wholeOf(name));
    }
  });

  it("go on with envelopes from a cursor of the thread's own log", async () => {
    const provider = await start();
    await say(provider, "a", ["Hello"]);
    const log = await readEvents(await fetch(`${server.url}/agents/scripted/threads/a/events?follow=false`));
    const cursor = log[1]?.id;
    const rest = await readEvents(
      await follow([{ threadId: "a", view: "envelopes", cursor }], "?follow=false"),
    );
    expect(idsOf(rest)).toEqual(idsOf(log).slice(2));
    expect(rest.map(({ data }) => data)).toEqual(log.slice(2).map(({ data }) => data));
  });

  it("P90: are each authorised on their own: what may not be seen is refused by name, and the others go on", async () => {
    await start();
    const person = { "x-throughline-account": "acme" };
    const response = await follow(
      [{ threadId: "a", agentId: "nobody" }, { threadId: "a" }, { threadId: "a", visibility: "private" }],
      "?follow=false",
      person,
    );
    const events = await readEvents(response);
    expect(named(events, "end").map(({ data }) => [data.subscription, data.code, data.status])).toEqual([
      [0, "not_found", 404],
      [2, "invalid_input", 400],
    ]);
    expect(named(events, "1").at(-1)?.data).toMatchObject({ type: "RUN_FINISHED" });
    expect(named(events, "0")).toEqual([]);
  });

  it("P90: are refused as one where none may be seen", async () => {
    await start();
    const refused = await follow([{ threadId: "a", agentId: "nobody" }]);
    expect(refused.status).toBe(404);
    expect(await refused.json()).toMatchObject({ code: "not_found" });
  });

  it("keep to their own account's and person's threads", async () => {
    const provider = await start();
    const ann = { "x-throughline-account": "acme", "x-throughline-subject": "ann" };
    const answer = server.post(RUN, go("secret"), ann);
    (await provider.nextRun()).end();
    await readEvents(await answer);
    const told = async (headers: Record<string, string>, view: Asked["view"] = "ag-ui") =>
      JSON.stringify(
        await readEvents(await follow([{ threadId: "secret", view }], "?follow=false", headers)),
      );
    expect(await told(ann)).toContain("go secret");
    for (const other of [
      { ...ann, "x-throughline-subject": "bob" },
      { "x-throughline-account": "acme" },
      { ...ann, "x-throughline-account": "other" },
    ])
      for (const view of ["ag-ui", "envelopes"] as const)
        expect(await told(other, view)).not.toContain("go secret");
  });

  it("are as many as a request and an account may have, and give their permits back", async () => {
    await start({ limits: { maxWatchers: 2 } });
    const threads = (count: number) => Array.from({ length: count }, (_, n) => ({ threadId: `t${n}` }));
    expect((await follow(threads(101))).status).toBe(400);
    expect((await follow([])).status).toBe(400);
    const leaving = new AbortController();
    const open = await fetch(`${server.url}${FOLLOW}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        subscriptions: threads(3).map((one) => ({ ...one, agentId: "scripted", view: "ag-ui" })),
      }),
      signal: leaving.signal,
    });
    const first = await sseEvents(open).next();
    expect(first.value?.data).toMatchObject({
      code: "rate_limited",
      status: 429,
      details: { limit: "maxWatchers" },
    });
    const refused = await follow(threads(1));
    expect(refused.status).toBe(429);
    expect(refused.headers.get("retry-after")).toBe("1");
    leaving.abort();
    await vi.waitFor(async () => {
      const next = await follow(threads(2), "?follow=false");
      expect(named(await readEvents(next), "end")).toEqual([]);
    });
  });

  it("hear of a deleted thread by its name, and go on", async () => {
    const provider = await start();
    await say(provider, "a", ["Hello"]);
    const response = await follow([{ threadId: "a" }, { threadId: "b" }]);
    let isDeleted = false;
    const events: SseEvent[] = [];
    for await (const event of sseEvents(response)) {
      events.push(event);
      if (!isDeleted && named(events, "0").some(isType("RUN_FINISHED"))) {
        isDeleted = true;
        await fetch(`${server.url}/agents/scripted/threads/a`, { method: "DELETE" });
      }
      if (event.event === "end") break;
    }
    expect(events.at(-1)?.data).toMatchObject({ subscription: 0, code: "not_found", status: 404 });
    expect(named(events, "1").some(isType("RUN_FINISHED"))).toBe(true);
  });

  it("end with their token, each told so", async () => {
    const clock = createSimulatedClock(Date.now());
    const expiresAt = clock.now() + 60_000;
    await start({
      clock,
      caller: {
        isSafeInPublic: true,
        resolve: async () => ({ billingAccountId: "acme", virtualKeyId: "vk", expiresAt }),
      },
    });
    const events: SseEvent[] = [];
    for await (const event of sseEvents(await follow([{ threadId: "a" }, { threadId: "b" }]))) {
      events.push(event);
      if (events.filter(isType("RUN_FINISHED")).length === 2) clock.advance(60_000);
    }
    expect(named(events, "end").map(({ data }) => [data.subscription, data.code])).toEqual([
      [0, "unauthorized"],
      [1, "unauthorized"],
    ]);
  });

  it("end when the instance shuts down, each told so", async () => {
    await start();
    const response = await follow([{ threadId: "a" }, { threadId: "b" }]);
    const events: SseEvent[] = [];
    let closing: Promise<void> | undefined;
    for await (const event of sseEvents(response)) {
      events.push(event);
      if (events.filter(isType("RUN_FINISHED")).length === 2) closing ??= server.close();
    }
    await closing;
    expect(named(events, "end").map(({ data }) => data.code)).toEqual(["shutting_down", "shutting_down"]);
  });

  it("bring histories that are larger together than one reader may lag behind", async () => {
    const provider = await start({ highWaterBytes: 131_072 });
    const threads = ["a", "b", "c", "d", "e", "f", "g", "h"];
    for (const threadId of threads) await say(provider, threadId, ["x".repeat(100_000)]);
    const asked = threads.flatMap((threadId) => [{ threadId }, { threadId, view: "envelopes" as const }]);
    const events = await readEvents(await follow(asked, "?follow=false"));
    const ends = asked.map((_, at) => named(events, String(at)).at(-1)?.data.type);
    expect(ends).toEqual(threads.flatMap(() => ["RUN_FINISHED", "run_end"]));
    expect(await metric("throughline_slow_readers_dropped_total")).toBe(0);
  });
});
