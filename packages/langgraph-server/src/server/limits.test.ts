import { afterEach, describe, expect, it } from "vitest";
import { createScriptedProvider } from "../testing/scripted-provider.js";
import { readEvents } from "../testing/sse-events.js";
import { startTestServer, type TestServer, type TestServerOptions } from "../testing/test-server.js";

const run = (threadId: string) => ({ threadId, messages: [{ id: "1", role: "user", content: "hello" }] });

describe("an account that asks for more than it may", () => {
  let server: TestServer;
  afterEach(() => server.close());

  async function open(limits: TestServerOptions["limits"]) {
    const graphs = createScriptedProvider();
    server = await startTestServer({ graphs, ...(limits && { limits }) });
    return graphs;
  }
  const start = (threadId: string, headers = {}) =>
    server.post("/api/copilotkit/agent/scripted/run", run(threadId), headers);

  it("is told 429, which limit it met, what to do and when, until a run has ended; others go on", async () => {
    const graphs = await open({ maxConcurrentRuns: 1 });
    const first = await start("one");
    const running = await graphs.nextRun();
    const refused = await start("two");
    expect(refused.status).toBe(429);
    expect(refused.headers.get("retry-after")).toBe("1");
    expect(await refused.json()).toMatchObject({
      code: "rate_limited",
      message: expect.stringMatching(/^maxConcurrentRuns: .*Wait for one to end, or stop one\.$/),
      details: { limit: "maxConcurrentRuns", max: 1, retryAfterMs: 1_000 },
    });
    expect(await (await fetch(`${server.url}/metrics`)).text()).toMatch(
      /throughline_limits_met_total\{limit="maxConcurrentRuns",.*\} 1/,
    );
    const other = await start("two", { "x-throughline-account": "other" });
    expect(other.status).toBe(200);
    (await graphs.nextRun()).end();
    await readEvents(other);
    running.end();
    await readEvents(first);
    const second = await start("two");
    expect(second.status).toBe(200);
    (await graphs.nextRun()).end();
    await readEvents(second);
  });

  it("is told 429 for too many starts within a minute, and when the next may come", async () => {
    const graphs = await open({ maxStartsPerMinute: 1 });
    const first = await start("one");
    (await graphs.nextRun()).end();
    await readEvents(first);
    const refused = await start("two");
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(50);
    expect(await refused.json()).toMatchObject({ details: { limit: "maxStartsPerMinute", max: 1 } });
  });

  it("is told 429 for too many deletions within a minute, by whichever route; others delete on", async () => {
    await open({ maxDeletionsPerMinute: 1 });
    const remove = (path: string, account = "one") =>
      fetch(`${server.url}${path}`, { method: "DELETE", headers: { "x-throughline-account": account } });
    expect((await remove("/agents/scripted/threads/a")).status).toBe(202);
    for (const path of ["/agents/scripted/threads/b", "/account/data"]) {
      const refused = await remove(path);
      expect(refused.status).toBe(429);
      expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(50);
      expect(await refused.json()).toMatchObject({ details: { limit: "maxDeletionsPerMinute", max: 1 } });
    }
    expect((await remove("/agents/scripted/threads/b", "other")).status).toBe(202);
  });

  it("is told 429 for too much sent within a minute, told or not told how much, and may still read", async () => {
    await open({ maxBodyBytesPerMinute: 300 });
    const stop = "/api/copilotkit/agent/scripted/stop/one";
    const filler = { runId: "x".repeat(120) };
    expect((await server.post(stop, filler)).status).toBe(200);
    const undeclared = await fetch(`${server.url}${stop}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: new Blob([JSON.stringify({ runId: "x".repeat(256) })]).stream(),
      duplex: "half",
    } as RequestInit);
    expect(undeclared.status).toBe(200);
    const refused = await server.post(stop, {});
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject({ details: { limit: "maxBodyBytesPerMinute", max: 300 } });
    expect((await fetch(`${server.url}/api/copilotkit/info`)).status).toBe(200);
  });

  it("is told 413 and the limit for a body that is too large, and for too many parts", async () => {
    await open({ maxBodyBytes: 200, maxContentParts: 1 });
    const large = await start("x".repeat(300));
    expect(large.status).toBe(413);
    expect(await large.json()).toMatchObject({
      code: "too_large",
      message: expect.stringContaining("Send less at once"),
      details: { limit: "maxBodyBytes", max: 200 },
    });
    const message = { role: "user", content: "a" };
    const many = {
      threadId: "t",
      messages: [
        { id: "1", ...message },
        { id: "2", ...message },
      ],
    };
    const parts = await server.post("/api/copilotkit/agent/scripted/run", many);
    expect(parts.status).toBe(413);
    expect(await parts.json()).toMatchObject({ details: { limit: "maxContentParts", max: 1 } });
  });
});

describe("an instance that drives as many runs as it may", () => {
  let server: TestServer;
  afterEach(() => server.close());

  it("answers starts of any account with 429 and when to come back, until one has ended; what runs goes on", async () => {
    const graphs = createScriptedProvider();
    server = await startTestServer({ graphs, maxDriven: 2 });
    const start = (account: string, input: object) =>
      server.post("/api/copilotkit/agent/scripted/run", input, { "x-throughline-account": account });
    const first = { ...run("one"), runId: "first" };
    const open = [await start("ann", first), await start("bob", run("one"))];
    const running = [await graphs.nextRun(), await graphs.nextRun()];
    const refused = await Promise.all(
      ["ann", "bob", "cleo"].map((account) => start(account, run(`other of ${account}`))),
    );
    expect(refused.map(({ status }) => status)).toEqual([429, 429, 429]);
    expect(refused.map(({ headers }) => headers.get("retry-after"))).toEqual(["1", "1", "1"]);
    expect(await refused[0]?.json()).toMatchObject({
      code: "rate_limited",
      message: expect.stringMatching(/^maxDriven: /),
      details: { limit: "maxDriven", max: 2, retryAfterMs: 1_000 },
    });
    // Sent again, it adds no run.
    const again = await start("ann", first);
    expect(again.status).toBe(200);
    for (const one of running) one.end();
    for (const stream of [...open, again]) await readEvents(stream);
    const next = await start("cleo", run("other of cleo"));
    expect(next.status).toBe(200);
    (await graphs.nextRun()).end();
    await readEvents(next);
  });

  it.each(["preempt", "enqueue"])(
    "takes a start that follows a run of its thread (%s), because that run's permit becomes its own",
    async (strategy) => {
      const graphs = createScriptedProvider();
      server = await startTestServer({ graphs, maxDriven: 2 });
      const start = (threadId: string, throughline: object = {}) =>
        server.post("/api/copilotkit/agent/scripted/run", {
          ...run(threadId),
          forwardedProps: { throughline },
        });
      const open = [await start("one"), await start("two")];
      const [first, second] = [await graphs.nextRun(), await graphs.nextRun()];
      const following = await start("one", { strategy });
      expect([following.status, (await start("three")).status]).toEqual([200, 429]);
      if (strategy === "enqueue") first.end();
      const next = await graphs.nextRun();
      expect(next.request.threadId).toBe(first.request.threadId);
      expect((await start("three")).status).toBe(429);
      for (const one of [second, next]) one.end();
      for (const stream of [...open, following]) await readEvents(stream);
    },
  );

  it("tells a start that follows none that its thread is busy", async () => {
    const graphs = createScriptedProvider();
    server = await startTestServer({ graphs, maxDriven: 1 });
    const open = await server.post("/api/copilotkit/agent/scripted/run", run("one"));
    const running = await graphs.nextRun();
    const refused = await server.post("/api/copilotkit/agent/scripted/run", run("one"));
    expect((await readEvents(refused)).at(-1)?.data).toMatchObject({
      type: "RUN_ERROR",
      code: "busy",
      metadata: { throughline: { details: { runId: expect.any(String) } } },
    });
    running.end();
    await readEvents(open);
  });

  it("admits no more than that of starts that come at once", async () => {
    const graphs = createScriptedProvider();
    server = await startTestServer({ graphs, maxDriven: 2 });
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        server.post("/api/copilotkit/agent/scripted/run", run("one"), {
          "x-throughline-account": `account-${index}`,
        }),
      ),
    );
    const admitted = answers.filter(({ status }) => status === 200);
    expect(admitted).toHaveLength(2);
    for (const _ of admitted) (await graphs.nextRun()).end();
    await Promise.all(admitted.map((answer) => readEvents(answer)));
  });
});
