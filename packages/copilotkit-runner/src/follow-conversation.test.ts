import { newRunId, systemClock } from "@throughline/ai-core";
import type { ThreadLog } from "@throughline/thread-log";
import { expect, it } from "vitest";
import { createRunEnvelopes } from "./conversation/conversation.js";
import { followConversation } from "./follow.js";
import { openStores } from "./stores.js";

const lease = { owner: "test", leaseMs: 15_000 };
const thread = { account: "a", threadId: "00000000-0000-5000-8000-000000000000" };

it("waits for the first entry of a run that the registry holds for open, to its end", async () => {
  const stores = await openStores({ kind: "memory" }, { clock: systemClock, lease, onError: () => {} });
  const { log, registry } = stores;
  const runId = newRunId(systemClock);
  const started = await registry.start({
    ...lease,
    thread,
    runId,
    stateKey: "copilotkit/t",
    graphId: "chat",
    origin: { kind: "client" },
    start: { kind: "input", messages: [] },
    request: {},
    strategy: "reject",
    listing: { threadName: "t", derivedTitle: undefined },
  });
  if (started.kind !== "started") throw new Error("The run did not start.");
  const told: string[] = [];
  const left = new AbortController();
  let tails = 0;
  const watched: ThreadLog = {
    ...log,
    tail(...asked) {
      tails += 1;
      return log.tail(...asked);
    },
  };
  const follow = {
    log: watched,
    thread,
    threadId: "t",
    after: undefined,
    active: runId,
    signal: left.signal,
  };
  const over = (async () => {
    for await (const { event } of followConversation(follow)) told.push(event.type);
  })();
  const { threadId } = thread;
  const envelopes = createRunEnvelopes({ clock: systemClock, threadId, runId, attempt: 0, agentId: "chat" });
  // By now it has read the log, and found nothing.
  await expect.poll(() => tails).toBe(1);
  const entries = [
    envelopes.start("r"),
    envelopes.event({ type: "RUN_STARTED", threadId: "t", runId: "r" }),
    envelopes.event({ type: "RUN_FINISHED", threadId: "t", runId: "r" }),
    envelopes.end({ status: "success" }),
  ];
  await log.append(thread, entries, started.fence, { finish: { status: "success" } });
  await over;
  expect(told).toEqual(["RUN_STARTED", "RUN_FINISHED"]);
  await stores.close();
});
