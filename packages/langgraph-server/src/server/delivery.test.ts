import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { createSimulatedClock, ThroughlineError } from "@throughline/ai-core";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createScriptedProvider, type ScriptedProvider } from "../testing/scripted-provider.js";
import { isType, readEvents, sseEvents, typesOf } from "../testing/sse-events.js";
import { startTestServer, type TestServer, type TestServerOptions } from "../testing/test-server.js";

const RUN = "/api/copilotkit/agent/scripted/run";
const CONNECT = "/api/copilotkit/agent/scripted/connect";

const servers: TestServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function start(
  options: TestServerOptions = {},
): Promise<{ server: TestServer; provider: ScriptedProvider }> {
  const provider = createScriptedProvider();
  const server = await startTestServer({ graphs: provider, ...options });
  servers.push(server);
  return { server, provider };
}

const go = (threadId: string) => ({
  threadId,
  messages: [{ id: `m-${threadId}`, role: "user", content: "go" }],
});

/** A reader that opens a stream and takes nothing from it. */
function frozen(url: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(url, resolve).once("error", reject);
  });
}

async function metric(server: TestServer, name: string): Promise<number> {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  const line = text.split("\n").find((candidate) => candidate.startsWith(name));
  return Number(line?.split(" ").at(-1));
}

describe("delivery", () => {
  it("drops a reader that stops reading, slows nobody, and lets it catch up exactly", async () => {
    const { server, provider } = await start({ highWaterBytes: 65_536, allowDebug: true });
    // Unsampled, so that each piece is a frame of its own.
    const forwardedProps = { throughline: { profile: "debug" } };
    const running = server
      .post(RUN, { ...go("heavy"), forwardedProps })
      .then((response) => readEvents(response));
    const run = await provider.nextRun();
    const path = `${server.url}/agents/scripted/threads/heavy/events`;
    const slow = await frozen(path);
    const whole: string[] = [];
    let pieces = 0;
    const dropped = () => metric(server, "throughline_slow_readers_dropped_total");
    for await (const { id, data } of sseEvents(await fetch(path))) {
      whole.push(id ?? "");
      if (data.type === "run_end") break;
      if (data.type !== "run_start" && data.type !== "llm_token") continue;
      // The fast reader sets the pace; what the kernel takes off our hands for the slow one ends somewhere.
      if (pieces % 50 === 49 && (await dropped()) > 0) run.end();
      else run.say(`${pieces}:`.padEnd(60_000, "x"));
      pieces += 1;
    }
    await running;
    expect(await dropped()).toBe(1);
    const held = await idsOf(slow);
    expect(held.length).toBeLessThan(whole.length);
    const headers = { "last-event-id": held.at(-1) ?? "" };
    const rest = await readEvents(await fetch(`${path}?follow=false`, { headers }));
    expect([...held, ...rest.map(({ id }) => id)]).toEqual(whole);
  });

  it("says that it is alive while nothing happens", async () => {
    const clock = createSimulatedClock(Date.now());
    const { server, provider } = await start({ clock });
    const response = await server.post(RUN, go("quiet"));
    const run = await provider.nextRun();
    const reader = response.body?.getReader();
    const decoder = new TextDecoder();
    let text = "";
    while (!text.includes(": hb\n\n")) {
      clock.advance(5_000);
      text += decoder.decode((await reader?.read())?.value);
    }
    run.end();
    await reader?.cancel();
  });

  it("lets a run go on when its starter leaves", async () => {
    const { server, provider } = await start();
    const leaving = new AbortController();
    const response = await fetch(`${server.url}${RUN}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(go("left")),
      signal: leaving.signal,
    });
    const run = await provider.nextRun();
    run.say("Hel");
    for await (const event of sseEvents(response)) if (event.data.type === "TEXT_MESSAGE_CONTENT") break;
    leaving.abort();
    await vi.waitFor(() => expect(server.service.hub.subscribers()).toBe(0));
    const watching = server.post(CONNECT, { threadId: "left" }).then((connected) => readEvents(connected));
    run.say("lo");
    run.end();
    const events = await watching;
    expect(typesOf(events).at(-1)).toBe("RUN_FINISHED");
    const again = await readEvents(await server.post(CONNECT, { threadId: "left" }));
    expect(JSON.stringify(again.find(isType("MESSAGES_SNAPSHOT"))?.data)).toContain("Hello");
  });

  it("follows a thread over many runs, and ends otherwise with the run", async () => {
    const { server, provider } = await start();
    const following = await server.post(`${CONNECT}?follow=true`, { threadId: "many" });
    const terminals: unknown[] = [];
    const reading = readEvents(following, ({ data }) => {
      if (data.type === "RUN_FINISHED") terminals.push(data);
      return terminals.length === 3;
    });
    for (const turn of ["one", "two"]) {
      const answer = server.post(RUN, {
        threadId: "many",
        messages: [{ id: turn, role: "user", content: turn }],
      });
      const run = await provider.nextRun();
      run.say(turn);
      run.end();
      await readEvents(await answer);
    }
    const types = typesOf(await reading);
    expect(types.filter((type) => type === "RUN_STARTED")).toHaveLength(3);
    expect(types.filter((type) => type === "RUN_FINISHED")).toHaveLength(3);
  });

  it("gives every open run a terminal when it shuts down, and a cursor that still counts", async () => {
    const { server, provider } = await start();
    const response = await server.post(RUN, go("closing"));
    const run = await provider.nextRun();
    run.say("half a sen");
    const events: string[] = [];
    let last: unknown;
    for await (const event of sseEvents(response)) {
      events.push(String(event.data.type));
      last = event;
      if (event.data.type === "TEXT_MESSAGE_CONTENT") void server.close();
    }
    expect(events.at(-1)).toBe("RUN_ERROR");
    expect(last).toMatchObject({ id: undefined, data: { code: "shutting_down" } });
  });

  it("waits for runs that end within the drain, and says on /ready that it leaves", async () => {
    const { server, provider } = await start();
    const response = server.post(RUN, go("draining"));
    const run = await provider.nextRun();
    server.handler.startClosing();
    const ready = await fetch(`${server.url}/ready`);
    expect(ready.status).toBe(503);
    const closing = server.close(10_000);
    run.say("done");
    run.end();
    expect(typesOf(await readEvents(await response)).at(-1)).toBe("RUN_FINISHED");
    await closing;
  });

  it("ends a stream when its token does", async () => {
    const clock = createSimulatedClock(Date.now());
    const expiresAt = clock.now() + 60_000;
    const { server, provider } = await start({
      clock,
      caller: {
        isSafeInPublic: true,
        resolve: async () => ({ billingAccountId: "acme", virtualKeyId: "vk", expiresAt }),
      },
    });
    const response = await server.post(RUN, go("expiring"));
    const run = await provider.nextRun();
    run.say("half a sen");
    const types: unknown[] = [];
    let code: unknown;
    for await (const { data } of sseEvents(response)) {
      types.push(data.type);
      code = data.code;
      if (data.type === "TEXT_MESSAGE_CONTENT") clock.advance(60_000);
    }
    expect([types.at(-1), code]).toEqual(["RUN_ERROR", "unauthorized"]);
    expect((await server.post(RUN, go("expired"))).status).toBe(401);
    run.end();
  });

  it("keeps no place for a reader that left before its stream began", async () => {
    const gate = new AbortController();
    const asked = vi.fn();
    const { server } = await start({
      limits: { maxWatchers: 1 },
      caller: {
        isSafeInPublic: true,
        async resolve() {
          asked();
          if (!gate.signal.aborted) await once(gate.signal, "abort");
          return { billingAccountId: "acme", virtualKeyId: "vk" };
        },
      },
    });
    const leaving = new AbortController();
    const left = fetch(`${server.url}/agents/scripted/threads/t/events`, { signal: leaving.signal });
    await vi.waitFor(() => expect(asked).toHaveBeenCalled());
    leaving.abort();
    await expect(left).rejects.toThrow();
    gate.abort();
    await vi.waitFor(async () => {
      const next = await server.post(CONNECT, { threadId: "t" });
      await next.body?.cancel();
      expect(next.status).toBe(200);
    });
    await vi.waitFor(async () => expect(await metric(server, "throughline_open_streams")).toBe(0));
  });

  it("refuses runs and watchers past an account's limits with 429, and only that account's", async () => {
    const { server, provider } = await start({ limits: { maxConcurrentRuns: 1, maxWatchers: 2 } });
    const first = server.post(RUN, go("a"));
    const run = await provider.nextRun();
    const refused = await server.post(RUN, go("b"));
    expect(refused.status).toBe(429);
    expect(refused.headers.get("retry-after")).toBe("1");
    expect(await refused.json()).toMatchObject({ code: "rate_limited" });
    const watcher = await server.post(CONNECT, { threadId: "a" });
    expect((await server.post(CONNECT, { threadId: "a" })).status).toBe(429);
    const other = server.post(RUN, go("b"), { "x-throughline-account": "other" });
    (await provider.nextRun()).end();
    expect((await other).status).toBe(200);
    run.end();
    await readEvents(await first);
    await readEvents(watcher);
    const next = server.post(RUN, go("c"));
    (await provider.nextRun()).end();
    expect((await next).status).toBe(200);
  });
});

/** Ids of the whole frames that arrived before the connection broke. */
async function idsOf(message: IncomingMessage): Promise<string[]> {
  let text = "";
  try {
    for await (const chunk of message) text += chunk;
  } catch (error) {
    if (error instanceof ThroughlineError) throw error;
  }
  const frames = text.split("\n\n").slice(0, -1);
  return frames.flatMap((frame) => /^id: (.*)$/m.exec(frame)?.[1] ?? []);
}
