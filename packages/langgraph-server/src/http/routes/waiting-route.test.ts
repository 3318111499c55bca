import { randomUUID } from "node:crypto";
import { createSimulatedClock } from "@throughline/ai-core";
import { emptyThreadProjection } from "@throughline/reading";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { describeEachStore } from "../../testing/describe-each-store.js";
import { readEvents } from "../../testing/sse-events.js";
import { testPerson } from "../../testing/test-person.js";
import { startTestServer, type TestServer } from "../../testing/test-server.js";
import { createWaitingInterrupts } from "../../threads/waiting-interrupts.js";

/** What a run leaves is seen a moment after its stream has ended. */
const PATIENT = { timeout: 10_000 };

describeEachStore("What waits for people, kept in %s,", (storeOf) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ store: storeOf() });
  });
  afterAll(() => server.close());

  function person(account: string, subject?: string, role?: string) {
    const headers = {
      "x-throughline-account": account,
      ...(subject !== undefined && { "x-throughline-subject": subject }),
      ...(role !== undefined && { "x-throughline-role": role }),
    };
    const { ask } = testPerson(() => server, headers);
    const run = async (agent: string, threadId: string, more: object) =>
      readEvents(
        await server.post(
          `/api/copilotkit/agent/${agent}/run`,
          { threadId, protocolVersion: "1.0", ...more },
          headers,
        ),
      );
    return {
      ask,
      run,
      say: (agent: string, threadId: string, content: string, visibility?: string) =>
        run(agent, threadId, {
          messages: [{ id: randomUUID(), role: "user", content }],
          ...(visibility && { forwardedProps: { throughline: { visibility } } }),
        }),
      /** Names of the threads that wait. */
      async waiting(query = "") {
        const { body } = await ask("GET", `/waiting${query}`);
        return body.questions.map(({ threadName }: { threadName: string }) => threadName);
      },
    };
  }

  it("is one list over all agents, newest first, with all that is needed to answer in place", async () => {
    const ann = person(`a-${randomUUID()}`, "ann");
    await ann.say("travel", "trip", "Plan a trip from Amsterdam to San Francisco");
    await ann.say("approver", "order", "Refund order 1042");
    await ann.say("chat", "talk", "Hello");
    await vi.waitFor(async () => expect(await ann.waiting()).toEqual(["order", "trip"]), PATIENT);
    const { body } = await ann.ask("GET", "/waiting");
    const [order, trip] = body.questions;
    expect(trip).toMatchObject({
      agentId: "langgraph:travel",
      visibility: "private",
      title: "Plan a trip from Amsterdam to San Francisco",
      kind: "question",
      interrupt: { value: { options: expect.any(Array), agent: "flights" } },
    });
    expect(Date.parse(order.askedAt)).toBeGreaterThanOrEqual(Date.parse(trip.askedAt));
    expect(await ann.waiting("?agentId=travel")).toEqual(["trip"]);
    const first = await ann.ask("GET", "/waiting?limit=1");
    const rest = await ann.ask("GET", `/waiting?limit=1&after=${first.body.next}`);
    expect([first, rest].flatMap((page) => page.body.questions)).toEqual(body.questions);
    await ann.run("travel", "trip", {
      resume: [
        {
          interruptId: trip.interrupt.interrupt_id,
          status: "resolved",
          payload: trip.interrupt.value.options[0],
        },
      ],
    });
    await vi.waitFor(async () => {
      const { body: now } = await ann.ask("GET", "/waiting?agentId=travel");
      expect(now.questions).toMatchObject([
        { threadName: "trip", interrupt: { value: { agent: "hotels" } } },
      ]);
    }, PATIENT);
    await ann.ask("PATCH", "/agents/approver/threads/order", { archived: true });
    expect(await ann.waiting()).toEqual(["trip"]);
  });

  it("is told to the person it waits for and, of shared threads, to everyone of the account", async () => {
    const account = `a-${randomUUID()}`;
    const ann = person(account, "ann");
    await ann.say("travel", "own", "Plan a trip from Amsterdam to San Francisco");
    await ann.say("travel", "shared", "Plan a trip from Amsterdam to San Francisco", "account");
    await vi.waitFor(async () => expect(await ann.waiting()).toEqual(["shared", "own"]), PATIENT);
    expect(await ann.waiting("?visibility=private")).toEqual(["own"]);
    for (const role of ["viewer", "approver", "admin"]) {
      expect(await person(account, "bob", role).waiting(), role).toEqual(["shared"]);
    }
    expect(await person(account).waiting()).toEqual(["shared"]);
    expect(await person(`a-${randomUUID()}`, "ann").waiting()).toEqual([]);
  });
});

it("A question is read once, and anew when another run was in its thread", async () => {
  const clock = createSimulatedClock();
  const run = { run_id: "r", client_run_id: null, attempt: 0, open: false, status: "interrupted" } as const;
  const interrupt = { interrupt_id: "q", value: "Sure?", node: null, ns: [] };
  const readProjection = vi.fn(async () => ({ ...emptyThreadProjection, run, interrupts: [interrupt] }));
  const listing = {
    thread: { account: "acme", threadId: "t" },
    graphId: "langgraph:chat",
    threadName: "t",
    title: undefined,
    derivedTitle: undefined,
    isTitledByPerson: false,
    isArchived: false,
    forkedFrom: undefined,
    model: undefined,
    status: "waiting" as const,
    lastRunId: "r",
    createdAt: 0,
    lastActivityAt: 0,
  };
  let token = 1n;
  const waiting = createWaitingInterrupts({
    directory: { list: async () => ({ threads: [{ ...listing, token }], next: undefined }) },
    readProjection,
    clock,
  });
  const read = async () => {
    await waiting({ account: "acme" }, { limit: 50 });
    return readProjection.mock.calls.length;
  };
  expect([await read(), await read()]).toEqual([1, 1]);
  token = 2n;
  expect([await read(), await read()]).toEqual([2, 2]);
  clock.advance(60_000);
  expect(await read()).toBe(3);
});
