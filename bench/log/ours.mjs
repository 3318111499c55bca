import { randomUUID } from "node:crypto";
import { createThreadLog } from "@throughline/thread-log";

/**
 * The instance that watches is opened when it is needed: a floor, too, has one connection that is notified and no more.
 *
 * @returns {Promise<import("./services.mjs").Side>}
 */
export async function createOurs(openStore) {
  const store = await openStore();
  const log = createThreadLog({ store });
  let other;
  const opened = new Map();

  function threadOf(number) {
    const thread = { account: "bench", threadId: `thread-${number}` };
    return { thread, fence: { threadId: thread.threadId, runId: "bench", token: 1n } };
  }

  async function open(number) {
    const known = opened.get(number);
    if (known) return known;
    const { thread, fence } = threadOf(number);
    const result = await log.open(thread, fence);
    if (!result.ok) throw new Error(`Thread ${number} was refused: ${result.reason}.`);
    opened.set(number, { thread, fence });
    return { thread, fence };
  }

  return {
    store,
    log,
    open,
    async append(number, text) {
      const { thread, fence } = opened.get(number) ?? (await open(number));
      const result = await log.append(thread, [envelopeOf(thread, text)], fence);
      if (!result.ok) throw new Error(`An append was refused: ${result.reason}.`);
    },
    async watch(numbers, onText) {
      other ??= createThreadLog({ store: await openStore() });
      const tails = await Promise.all(
        numbers.map(async (number) => {
          const { thread } = await open(number);
          const after = await other.head(thread);
          return other.tail(thread, after)[Symbol.asyncIterator]();
        }),
      );
      const reading = tails.map(async (tail) => {
        for (let next = await tail.next(); !next.done; next = await tail.next()) {
          if (next.value.kind !== "entries") throw new Error(`A watcher was told of a ${next.value.kind}.`);
          for (const { envelope } of next.value.entries) onText(envelope.payload.value);
        }
      });
      return async () => {
        await Promise.all(tails.map((tail) => tail.return()));
        await Promise.all(reading);
      };
    },
    async close() {
      await log.close();
      await other?.close();
    },
  };
}

const RUN = randomUUID();

/** What carries a text of ours; a floor stores the very same JSON. */
export function envelopeOf(thread, text) {
  return {
    type: "custom",
    ts: 1_700_000_000,
    trace_id: RUN,
    run_id: RUN,
    thread_id: thread.threadId,
    attempt: 0,
    parent_id: null,
    call_id: "bench",
    seq: 1,
    origin: "live",
    agent: "",
    payload: { name: "bench", value: text },
  };
}
