import { createHash } from "node:crypto";
import {
  type Clock,
  type ErrorCode,
  parseGraphId,
  StoreOutage,
  ThroughlineError,
  toWireError,
} from "@throughline/ai-core";
import { isBeingDeleted, type RunRecord, type RunRegistry } from "@throughline/thread-log";
import type { ServiceObserver } from "../operations/observer.js";
import { type Poller, poll } from "../operations/poller.js";
import type { StartRunRequest } from "../runs/start-request.js";
import type { RunInput } from "../threads/run-spec.js";
import { type ThreadAddress, threadAddress } from "../threads/thread-address.js";
import type { ClaimedTick, Cron, CronTick, TickOutcome } from "./cron.js";
import type { CronStore } from "./cron-store.js";
import { tickAlias } from "./plan-tick.js";

export interface CronRunnerOptions {
  readonly store: CronStore;
  readonly deliver: (claimed: ClaimedTick) => Promise<TickOutcome>;
  readonly clock: Clock;
  /** How long another instance's changes may go unnoticed. */
  readonly everyMs: number;
  /** In [0, 1): spreads instances that started together. */
  readonly random: () => number;
  readonly observer: Pick<ServiceObserver, "failed">;
}

/** A poll is over when every tick that was due is delivered. */
export type CronRunner = Poller;

/** How long a delivery may take before another instance tries: starting a run takes milliseconds. */
export const TICK_LEASE_MS = 30_000;
const PER_CLAIM = 16;
const MAX_ATTEMPTS = 10;
const MAX_WAIT_MS = 60_000;
/** Codes of failures that a later attempt may not meet. */
const PASSING: readonly ErrorCode[] = [
  "rate_limited",
  "shutting_down",
  "upstream_unavailable",
  "store_unavailable",
  "internal",
];

/** Delivers crons that are due and ticks that were left undelivered: at once, when the next one is due, and at intervals. */
export function startCronRunner(options: CronRunnerOptions): CronRunner {
  const { store, observer } = options;

  async function deliver(claimed: ClaimedTick): Promise<void> {
    try {
      await store.settle(claimed.tick, await attempt(claimed));
    } catch (error) {
      const passing = retryableCode(error);
      if (passing === "internal")
        observer.failed("A cron's tick could not be delivered; it is tried again.", error);
      // When even this can't be written, the tick stays pending and is claimed again when its lease has run out.
      const wait = passing === "shutting_down" ? 0 : Math.min(1_000 * 2 ** claimed.tick.attempt, MAX_WAIT_MS);
      await store.postpone(claimed.tick, wait).catch(() => {});
    }
  }

  async function attempt(claimed: ClaimedTick): Promise<TickOutcome> {
    try {
      return await options.deliver(claimed);
    } catch (error) {
      // An outage of the store is never the tick's failure, however long it takes.
      if (error instanceof StoreOutage) throw error;
      if (retryableCode(error) !== undefined && claimed.tick.attempt < MAX_ATTEMPTS) throw error;
      return failedOutcome(error);
    }
  }

  async function claimAll(closing: AbortSignal): Promise<void> {
    for (let found = PER_CLAIM; found === PER_CLAIM && !closing.aborted; ) {
      const { crons, ticks } = await store.claimDue(PER_CLAIM, TICK_LEASE_MS);
      await Promise.all(ticks.map(deliver));
      found = crons;
    }
    for (let found = PER_CLAIM; found === PER_CLAIM && !closing.aborted; ) {
      const ticks = await store.claimPending(PER_CLAIM, TICK_LEASE_MS);
      await Promise.all(ticks.map(deliver));
      found = ticks.length;
    }
  }

  return poll({
    ...options,
    async once(closing) {
      await claimAll(closing);
      return store.untilDue();
    },
    failed: (error) => observer.failed("Crons that are due could not be claimed.", error),
  });
}

export function failedOutcome(error: unknown): TickOutcome {
  const { code, message } = toWireError(error);
  return { kind: "failed", code, message };
}

function retryableCode(error: unknown): ErrorCode | undefined {
  const code = error instanceof ThroughlineError ? error.code : "internal";
  return PASSING.includes(code) || isBeingDeleted(error) ? code : undefined;
}

export interface DeliveryDeps {
  readonly store: Pick<CronStore, "find" | "ticks">;
  readonly registry: Pick<RunRegistry, "find">;
  /** Throws what refuses the run. */
  readonly start: (request: StartRunRequest) => Promise<{ readonly run: RunRecord }>;
}

/** Makes a tick an ordinary run. Delivered twice it is the same run. Throws the error that left it undecided. */
export async function deliverTick(deps: DeliveryDeps, { cron, tick }: ClaimedTick): Promise<TickOutcome> {
  const thread = threadOf(cron, tick);
  const alias = tickAlias(tick);
  const same = await deps.registry.find(thread.ref, { alias });
  if (same) return { kind: "started", runId: same.runId };
  const { definition } = cron;
  if (definition.threadName === null && definition.overlap === "skip") {
    const open = await precedingOpenRun(deps, cron, tick);
    if (open !== undefined) return { kind: "skipped", reason: "busy", runId: open };
  }
  // Deleted since it was claimed, it must not bring back what was deleted with it.
  if (!(await deps.store.find(cron, cron.id)))
    throw new ThroughlineError("not_found", "The cron was deleted.");
  try {
    const { run } = await deps.start({
      thread,
      caller: {
        billingAccountId: cron.account,
        ...(cron.subject !== undefined && { subject: cron.subject }),
        virtualKeyId: cron.virtualKeyId,
        traceId: createHash("sha256").update(alias).digest("hex").slice(0, 32),
      },
      ingressRequestId: alias,
      clientRunId: alias,
      input: inputOf(definition.input, alias),
      command: definition.input.command,
      tools: [],
      context: [],
      ...(definition.model !== null && { model: definition.model }),
      ...(definition.config && { config: definition.config }),
      profile: "user",
      strategy: definition.overlap === "enqueue" ? "enqueue" : "reject",
      origin: { kind: "cron", id: cron.id },
    });
    return { kind: "started", runId: run.runId };
  } catch (error) {
    if (!(error instanceof ThroughlineError)) throw error;
    if (error.code !== "busy" && error.code !== "interrupt_pending") throw error;
    const { runId } = error.details;
    return { kind: "skipped", reason: error.code, ...(typeof runId === "string" && { runId }) };
  }
}

export function threadOf(cron: Cron, tick: Pick<CronTick, "agent" | "threadName">): ThreadAddress {
  const { account: billingAccountId, subject } = cron;
  return threadAddress(
    { billingAccountId, subject },
    parseGraphId(tick.agent) ?? tick.agent,
    tick.threadName,
  );
}

/** How many ticks back a run that is still open is searched for. */
const LOOK_BACK = 10;

/** Ticks with threads of their own never meet in one, so whether the one before still runs has to be read. */
async function precedingOpenRun(
  { store, registry }: DeliveryDeps,
  cron: Cron,
  tick: CronTick,
): Promise<string | undefined> {
  for (const earlier of await store.ticks(cron, cron.id, { limit: LOOK_BACK })) {
    if (earlier.id === tick.id || earlier.outcome.kind !== "started") continue;
    const { runId } = earlier.outcome;
    const run = await registry.find(threadOf(cron, earlier).ref, { runId });
    return run?.status === "running" || run?.status === "queued" ? runId : undefined;
  }
  return undefined;
}

function inputOf({ message, state }: Cron["definition"]["input"], alias: string): RunInput {
  return {
    kind: "input",
    // The id follows from the tick's, so that the same tick again brings the same message.
    messages: message === undefined ? [] : [{ id: alias, role: "user", content: message }],
    ...(state && { state }),
  };
}

/** Reports each tick's outcome when it is recorded: once, on any instance and after any number of tries. */
export function observeTicks(store: CronStore, observer: Pick<ServiceObserver, "cronTicked">): CronStore {
  function report({ outcome, missed }: Pick<CronTick, "outcome" | "missed">): void {
    if (outcome.kind !== "pending") observer.cronTicked({ outcome: outcome.kind, missed });
  }

  return {
    ...store,
    async claimDue(limit, leaseMs) {
      const claimed = await store.claimDue(limit, leaseMs);
      claimed.decided.forEach(report);
      return claimed;
    },
    async settle(tick, outcome) {
      const isNew = await store.settle(tick, outcome);
      if (isNew) report({ ...tick, outcome });
      return isNew;
    },
  };
}
