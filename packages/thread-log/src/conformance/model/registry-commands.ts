import type { Fence } from "@throughline/ai-core";
import type { FinishResult, HeartbeatResult, LeasedRun } from "../../registry/run-registry.js";

import { type ThreadRef, threadKey } from "../../thread-ref.js";
import { command, isBit, type Resolve } from "./model-command.js";
import {
  HOUR_MS,
  leaseAt,
  MODEL_LEASE,
  type ModelWorld,
  named,
  pick,
  remember,
  rowOf,
  threadAt,
} from "./model-world.js";
import type { Operation, Outcome, Part } from "./operation.js";
import { unbornRun } from "./start-commands.js";

export const STATUSES = ["success", "interrupted", "error", "cancelled"] as const;

export function interruptsAt(n: number): readonly string[] {
  return ["i0", "i1", "i2"].filter((_, index) => isBit(n, index));
}

const claimNext: Resolve = (world, [at]) => {
  const thread = threadAt(world, at);
  return {
    text: `claimNext in ${named(thread)}`,
    perform: ({ registry }) => registry.claimNext(thread, MODEL_LEASE),
    learn(outcome) {
      if (outcome.kind === "answered" && outcome.answer) remember(world, outcome.answer as LeasedRun);
    },
  };
};

function claimedIn(outcome: Outcome): readonly LeasedRun[] {
  return outcome.kind === "answered" ? (outcome.answer as { claimed: readonly LeasedRun[] }).claimed : [];
}

/** One that was lost may have claimed in any thread. */
const claimQueued: Resolve = (world, [n]) => {
  const next = (thread: ThreadRef, outcome: Outcome): Part => ({
    text: `claimed in ${named(thread)}`,
    outcome,
    perform: ({ registry }) => registry.claimNext(thread, MODEL_LEASE),
  });
  return {
    text: `claimQueued ${1 + (n % 3)}`,
    perform: async ({ registry }) => ({ claimed: await registry.claimQueued(MODEL_LEASE, 1 + (n % 3)) }),
    // It skips threads that others hold this moment: what it did claim was next in its thread.
    parts: (outcome) =>
      outcome.kind === "answered"
        ? claimedIn(outcome).map((leased) => next(leased.run.thread, { kind: "answered", answer: leased }))
        : world.threads.map((thread) => next(thread, outcome)),
    learn: (outcome) => rememberAll(world, outcome),
  };
};

const claimExpired: Resolve = (world, [n]) => claimExpiredAt(world, n);

export function claimExpiredAt(world: ModelWorld, n: number): Operation {
  const running = [...world.state.runs.values()].filter(({ status }) => status === "running");
  return {
    text: `claimExpired ${1 + (n % 3)}`,
    perform: async ({ registry }) => ({ claimed: await registry.claimExpired(MODEL_LEASE, 1 + (n % 3)) }),
    parts: (outcome) =>
      outcome.kind === "answered"
        ? claimedIn(outcome).map((leased) => recovery(leased.run.runId, { kind: "answered", answer: leased }))
        : running.map(({ runId }) => recovery(runId, outcome)),
    learn: (outcome) => rememberAll(world, outcome),
  };
}

/** `claimExpired` of one run: the leases of the others are over some other time. */
function recovery(runId: string, outcome: Outcome): Part {
  return {
    text: `recovered ${runId}`,
    outcome,
    async perform({ registry, database }) {
      const others = [...database.runs.values()].filter((run) => run.runId !== runId);
      const until = others.map((run) => run.leaseUntil);
      for (const run of others) run.leaseUntil &&= Number.POSITIVE_INFINITY;
      const [claimed] = await registry.claimExpired(MODEL_LEASE, 1);
      others.forEach((run, index) => {
        run.leaseUntil = until[index];
      });
      return claimed;
    },
  };
}

function rememberAll(world: ModelWorld, outcome: Outcome): void {
  for (const leased of claimedIn(outcome)) remember(world, leased);
}

const finish: Resolve = (world, [n, how, open, upstream]) => {
  const lease = leaseAt(world, n, how % 4 === 0);
  if (!lease) return undefined;
  const status = pick(STATUSES, how) ?? "success";
  const end = {
    status,
    interrupts: interruptsAt(open),
    ...(upstream % 2 ? { upstreamRunId: `up-${upstream}` } : {}),
  };
  return {
    text: `finish ${lease.fence.runId} as ${status}, ${end.interrupts}`,
    perform: ({ registry }) => registry.finish(lease.fence, end),
    endsRunsOf(answer) {
      const result = answer as FinishResult;
      return result.ok && result.next === undefined ? [lease.thread] : [];
    },
  };
};

const heartbeat: Resolve = (world, [n, count, old]) => {
  const fences = new Map<string, Fence>();
  for (let i = 0; i <= count % 3; i++) {
    const lease = leaseAt(world, n + i, isBit(old, i) && isBit(old, i + 3));
    if (lease) fences.set(lease.fence.runId, lease.fence);
  }
  if (fences.size === 0) return undefined;
  const beat = [...fences.values()];
  return {
    text: `heartbeat ${[...fences.keys()]}`,
    perform: ({ registry }) => registry.heartbeat(beat, MODEL_LEASE),
    parts: (outcome) =>
      beat.map((fence) => ({
        text: `heartbeat ${fence.runId}`,
        outcome:
          outcome.kind === "answered" ? { ...outcome, answer: beatOf(outcome.answer, fence) } : outcome,
        perform: ({ registry }) => registry.heartbeat([fence], MODEL_LEASE),
      })),
  };
};

function beatOf(answer: unknown, { runId }: Fence): HeartbeatResult {
  const { lost, stopping } = answer as HeartbeatResult;
  return { lost: lost.filter((id) => id === runId), stopping: stopping.filter((id) => id === runId) };
}

const release: Resolve = (world, [n, old]) => {
  const lease = leaseAt(world, n, old % 2 === 0);
  const isFresh = old % 3 === 0;
  return (
    lease && {
      text: `release ${lease.fence.runId} ${lease.fence.token}${isFresh ? " fresh" : ""}`,
      perform: ({ registry }) => registry.release(lease.fence, { isFresh }),
    }
  );
};

const setUpstream: Resolve = (world, [n, old]) => {
  const lease = leaseAt(world, n, old % 3 === 0);
  return (
    lease && {
      text: `setUpstreamRun ${lease.fence.runId}`,
      perform: ({ registry }) => registry.setUpstreamRun(lease.fence, `up-${n}`),
    }
  );
};

const assertHeld: Resolve = (world, [n, old]) => {
  const lease = leaseAt(world, n, old % 2 === 0);
  return (
    lease && {
      text: `assertHeld ${lease.fence.runId}`,
      perform: ({ registry }) => registry.assertHeld(lease.fence),
    }
  );
};

const stop: Resolve = (world, [at, n, how]) => {
  const thread = threadAt(world, at);
  const open = [...world.state.runs.values()].filter(
    ({ thread: of, endedAt }) => threadKey(of) === threadKey(thread) && endedAt === undefined,
  );
  const run = pick(how % 8 === 5 ? [...world.state.runs.values()] : open, n);
  const name =
    how % 3 === 0
      ? { alias: `alias-${n % 4}` }
      : { runId: run && how % 4 !== 1 ? run.runId : unbornRun(world, thread) };
  return {
    text: `stop ${JSON.stringify(name)} in ${named(thread)}`,
    perform: ({ registry }) => registry.stop(thread, name),
  };
};

const prune: Resolve = (_, [n, limit]) => ({
  text: "pruneEnded",
  isAlone: true,
  perform: ({ registry }) => registry.pruneEnded(n % 2 ? 0 : HOUR_MS, 1 + (limit % 3)),
});

const deleteRunsOfThread: Resolve = (world, [at]) => {
  const thread = threadAt(world, at);
  return {
    text: `delete runs of ${named(thread)}`,
    // A thread that is not there can't be locked; the service closes it before.
    isAlone: rowOf(world, thread) === undefined,
    perform: ({ registry }) => registry.deleteThread(thread),
  };
};

const deleteRunsOfAccount: Resolve = (world, [at, n]) => {
  const { account, subject } = threadAt(world, at);
  const scope = n % 2 ? subject : undefined;
  return {
    text: `delete runs of ${account}/${scope}`,
    locksSeveral: true,
    isAlone: world.threads.some((thread) => rowOf(world, thread) === undefined),
    perform: async ({ registry }) => ({ stopping: await registry.deleteAccount(account, scope) }),
  };
};

const closeScope: Resolve = (world, [at, n]) => {
  const { account, subject, threadId } = threadAt(world, at);
  const scope = pick(
    [{ account }, { account, subject: subject ?? "" }, { account, subject: subject ?? "", threadId }],
    n,
  );
  return (
    scope && {
      text: `close ${JSON.stringify(scope)}`,
      perform: (on) => on.closeScope(`closure-${n % 2}`, scope),
    }
  );
};

const openScope: Resolve = (_, [, n]) => ({
  text: "open the scope",
  perform: (on) => on.openScope(`closure-${n % 2}`),
});

/** Past every lease, stop and end. */
export const timePasses: Operation = {
  text: "time passes",
  isAlone: true,
  isReliable: true,
  perform: (on) => on.pass(2 * HOUR_MS),
};

const ask: Resolve = (world, [at, n, which, alias]) => {
  const thread = threadAt(world, at);
  const run = pick([...world.state.runs.values()], n);
  const name = alias % 2 || !run ? { alias: `alias-${alias % 4}` } : { runId: run.runId };
  const asked: readonly Pick<Operation, "text" | "perform">[] = [
    { text: "find", perform: ({ registry }) => registry.find(thread, name) },
    { text: "active", perform: ({ registry }) => registry.active(thread) },
    { text: "open runs", perform: ({ registry }) => registry.open(thread) },
    { text: "list", perform: ({ registry }) => registry.list(thread, 1 + (n % 3)) },
    {
      text: "openInterrupts",
      perform: async ({ registry }) => ({ interrupts: await registry.openInterrupts(thread) }),
    },
    { text: "countOpen", perform: ({ registry }) => registry.countOpen(thread.account) },
  ];
  const chosen = pick(asked, which);
  return chosen && { ...chosen, text: `${chosen.text} in ${named(thread)}` };
};

export const registryCommands = [
  { weight: 4, arbitrary: command("claimNext", claimNext) },
  { weight: 2, arbitrary: command("claimQueued", claimQueued) },
  { weight: 2, arbitrary: command("claimExpired", claimExpired) },
  { weight: 5, arbitrary: command("finish", finish) },
  { weight: 2, arbitrary: command("heartbeat", heartbeat) },
  { weight: 2, arbitrary: command("release", release) },
  { weight: 1, arbitrary: command("setUpstreamRun", setUpstream) },
  { weight: 1, arbitrary: command("assertHeld", assertHeld) },
  { weight: 4, arbitrary: command("stop", stop) },
  { weight: 1, arbitrary: command("prune", prune) },
  { weight: 2, arbitrary: command("deleteRunsOfThread", deleteRunsOfThread) },
  { weight: 1, arbitrary: command("deleteRunsOfAccount", deleteRunsOfAccount) },
  { weight: 2, arbitrary: command("closeScope", closeScope) },
  { weight: 2, arbitrary: command("openScope", openScope) },
  { weight: 2, arbitrary: command("pass", () => timePasses) },
  { weight: 2, arbitrary: command("ask", ask) },
];
