import { encodeEnvelope } from "../../log/entries.js";
import type { StoreAppend, StoreAppendResult } from "../../log/log-store.js";
import { loadByParts } from "../../memory/log-store.js";
import type { ThreadRef } from "../../thread-ref.js";
import { note, runEnd } from "../log-scene.js";
import { command, isBit, type Resolve } from "./model-command.js";
import {
  type KnownLease,
  leaseAt,
  type ModelWorld,
  pick,
  rowOf,
  type SentAppend,
  threadAt,
} from "./model-world.js";
import type { Outcome } from "./operation.js";
import { interruptsAt, STATUSES } from "./registry-commands.js";
import { trim } from "./trim-command.js";

const WRITER = "model-writer";

export function newAppend(
  world: ModelWorld,
  { thread, fence }: KnownLease,
  n: number,
  ends: boolean,
  interrupts: readonly string[] = interruptsAt(n >> 2),
): StoreAppend {
  const texts = Array.from({ length: 1 + (n % 3) }, () => `text ${world.nextNumber()}`);
  const envelopes = texts.map((text) => note(thread, text));
  const status = pick(STATUSES, n) ?? "success";
  return {
    thread,
    token: fence.token,
    appendId: `${WRITER}.${String(world.nextNumber()).padStart(9, "0")}`,
    entries: [
      ...envelopes,
      ...(ends ? [{ ...runEnd(thread, fence.runId), ts: world.nextNumber() }] : []),
    ].map(encodeEnvelope),
    ...(ends ? { finish: { runId: fence.runId, status, interrupts } } : {}),
  };
}

/** One to three threads in one commit, of leases that are held and of some that were. */
const commit: Resolve = (world, [n, counts, ends, old]) => {
  const batch = new Map<ThreadRef["threadId"], StoreAppend>();
  for (let i = 0; i <= counts % 3; i++) {
    const lease = leaseAt(world, n + i, isBit(old, i) && isBit(old, i + 3));
    if (!lease) continue;
    const key = `${lease.thread.account}/${lease.thread.subject}/${lease.thread.threadId}`;
    batch.set(key, newAppend(world, lease, counts + i, isBit(ends, i) && isBit(ends, i + 2)));
  }
  return batch.size === 0 ? undefined : commitOperation(world, [...batch.values()]);
};

/** A commit whose answer was lost is sent again, as long as nothing of its thread was sent after it. */
const commitAgain: Resolve = (world) => {
  const last = world.appends.at(-1)?.append;
  if (!last) return undefined;
  // Its run may have been pruned meanwhile, and then it is told of no other.
  const { endsRunsOf: _, ...again } = commitOperation(world, [last]);
  return again;
};

export function commitOperation(world: ModelWorld, batch: readonly StoreAppend[]) {
  const described = batch.map(({ thread, token, entries, finish }) => {
    const end = finish ? ` and end of ${finish.runId}` : "";
    return `${thread.account}/${thread.subject ?? ""}/${thread.threadId} (${token}) ${entries.length}${end}`;
  });
  return {
    text: `commit ${described.join("; ")}`,
    // A writer waits for the answer before it sends the next.
    locksSeveral: batch.length > 1,
    marks: batch.map(({ token }) => `appends under ${token}`),
    perform: ({ store }: { store: { commit(batch: readonly StoreAppend[]): Promise<unknown> } }) =>
      store.commit(batch),
    // Each is whole, and the batch is not: what is refused in it is refused by itself. Of a thread that another session held
    // for longer than a moment nothing was written.
    parts: (outcome: Outcome) =>
      batch.flatMap((append, index) => {
        const own = resultOf(outcome, index);
        if (isLocked(own)) return [];
        return {
          text: `append of ${described[index]}`,
          outcome: own,
          perform: async ({
            store,
          }: {
            store: { commit(batch: readonly StoreAppend[]): Promise<readonly unknown[]> };
          }) => (await store.commit([append]))[0],
        };
      }),
    endsRunsOf: (answer: unknown) =>
      (answer as readonly StoreAppendResult[]).flatMap((result, index) => {
        const append = batch[index];
        return append?.finish && result.ok && result.next === undefined ? [append.thread] : [];
      }),
    learn(outcome: Outcome) {
      batch.forEach((append, index) => {
        learnAppend(world, append, resultOf(outcome, index));
      });
    },
  };
}

function isLocked(outcome: Outcome): boolean {
  if (outcome.kind !== "answered") return false;
  const result = outcome.answer as StoreAppendResult;
  return !result.ok && result.reason === "locked";
}

function resultOf(outcome: Outcome, index: number): Outcome {
  if (outcome.kind !== "answered") return outcome;
  return { kind: "answered", answer: (outcome.answer as readonly unknown[])[index] };
}

/** Of one that is sent again the last answer counts, but what was taken once stays taken. */
function learnAppend(world: ModelWorld, append: StoreAppend, outcome: Outcome): void {
  const result = outcome.kind === "answered" ? (outcome.answer as StoreAppendResult) : undefined;
  const before = world.appends.find((sent) => sent.append.appendId === append.appendId);
  const sent: SentAppend = before ?? { append, outcome: "refused" };
  if (!before) world.appends.push(sent);
  if (result?.ok) Object.assign(sent, { outcome: "taken", epoch: result.epoch, first: result.first });
  else if (sent.outcome !== "taken" && (result === undefined || before?.outcome === "lost"))
    sent.outcome = "lost";
}

const open: Resolve = (world, [n, old, key]) => {
  const lease = leaseAt(world, n, old % 2 === 0);
  return (
    lease && {
      text: `open ${lease.thread.threadId} for ${lease.fence.token}`,
      perform: ({ store }) => store.open(lease.thread, lease.fence.token, key % 2 ? `key/${key}` : undefined),
    }
  );
};

const read: Resolve = (world, [at, from, epochs, limit]) => {
  const requests = [at, at + 1].map((n) => {
    const thread = threadAt(world, n);
    const row = rowOf(world, thread);
    const epoch = pick([undefined, row?.epoch, "other"], epochs + n);
    return { thread, epoch, afterSeq: from % ((row?.head ?? 0) + 2) };
  });
  return {
    text: `read ${JSON.stringify(requests)}`,
    perform: ({ store }) => store.read(requests, 1 + (limit % 4)),
  };
};

/** A fold reads its own version, and some read the one before. */
function foldVersionsAt(n: number): readonly number[] {
  return pick([[1], [2], [2, 1]], n) ?? [1];
}

const load: Resolve = (world, [at, version, back, limit]) => {
  const thread = threadAt(world, at);
  const head = rowOf(world, thread)?.head ?? 0;
  const request = {
    foldVersions: foldVersionsAt(version),
    returnsTo: back % 3 === 0 ? undefined : Math.max(0, head - (back % 5)),
    shortlyBefore: back % 4,
    limit: 1 + (limit % 5),
  };
  return {
    text: `load ${thread.account}/${thread.subject}/${thread.threadId} ${JSON.stringify(request)}`,
    perform: ({ store }) => (store.load ? store.load(thread, request) : loadByParts(store, thread, request)),
  };
};

const ask: Resolve = (world, [at, n, which]) => {
  const thread = threadAt(world, at);
  const head = rowOf(world, thread)?.head ?? 0;
  const run = pick([...world.state.runs.values()], n);
  const scope = {
    account: thread.account,
    ...(n % 2 ? { everySubject: true } : { subject: thread.subject }),
  };
  return pick(
    [
      { text: "kept", perform: ({ store }) => store.kept(thread, n % 4, 1 + (n % 3)) },
      { text: "terminal", perform: ({ store }) => store.terminal(run?.thread ?? thread, run?.runId ?? "") },
      {
        text: "snapshot",
        perform: ({ store }) =>
          store.snapshot(thread, foldVersionsAt(n), n % 3 ? Math.max(0, head - (n % 5)) : undefined),
      },
      { text: "excess by count", perform: ({ store }) => store.excess(thread, { maxEntries: n % 5 }) },
      { text: "excess by bytes", perform: ({ store }) => store.excess(thread, { maxBytes: 400 * (n % 5) }) },
      {
        text: "threads",
        // Two pages are of two moments.
        isAlone: true,
        async perform({ store }) {
          const first = await store.threads(scope, { limit: 1 });
          return [first, await store.threads(scope, { limit: 1 + (n % 2), after: first.next })];
        },
      },
    ] satisfies readonly ReturnType<Resolve>[],
    which,
  );
};

/** Of the head, of somewhere before it, of a position that is not there, or of another log. */
const saveSnapshot: Resolve = (world, [at, back, version]) => {
  const thread = threadAt(world, at);
  const row = rowOf(world, thread);
  if (!row) return undefined;
  const seq = back % 8 === 7 ? row.head + 1 : Math.max(0, row.head - (back % 4));
  const epoch = back % 16 === 6 ? "other" : row.epoch;
  const snapshot = { position: { epoch, seq }, foldVersion: 1 + (version % 2), state: { through: seq } };
  return {
    text: `saveSnapshot ${thread.account}/${thread.subject}/${thread.threadId} ${seq} of ${row.head}, version ${snapshot.foldVersion}`,
    // Which older one goes is not decided under the lock.
    marks: [`snapshot of ${thread.account}/${thread.subject}/${thread.threadId}`],
    perform: ({ store }) => store.saveSnapshot(thread, snapshot),
  };
};

const deleteThread: Resolve = (world, [at]) => {
  const thread = threadAt(world, at);
  return {
    text: `delete ${thread.account}/${thread.subject}/${thread.threadId}`,
    isAlone: rowOf(world, thread) === undefined,
    perform: ({ store }) => store.deleteThread(thread),
  };
};

const deleteAccount: Resolve = (world, [at, n]) => {
  const { account, subject } = threadAt(world, at);
  const scope = n % 2 ? subject : undefined;
  return {
    text: `delete ${account}/${scope}`,
    locksSeveral: true,
    isAlone: world.threads.some((thread) => rowOf(world, thread) === undefined),
    perform: ({ store }) => store.deleteAccount(account, scope),
  };
};

export const storeCommands = [
  { weight: 10, arbitrary: command("commit", commit) },
  { weight: 3, arbitrary: command("commitAgain", commitAgain) },
  { weight: 1, arbitrary: command("open", open) },
  { weight: 1, arbitrary: command("read", read) },
  { weight: 1, arbitrary: command("load", load) },
  { weight: 2, arbitrary: command("ask", ask) },
  { weight: 4, arbitrary: command("saveSnapshot", saveSnapshot) },
  { weight: 3, arbitrary: command("trim", trim) },
  { weight: 2, arbitrary: command("deleteThread", deleteThread) },
  { weight: 1, arbitrary: command("deleteAccount", deleteAccount) },
];
