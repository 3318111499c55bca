import { createHash } from "node:crypto";
import { parseGraphId, ThroughlineError } from "@throughline/ai-core";
import type { RunRecord, RunRegistry } from "@throughline/thread-log";
import type { StartRunRequest } from "../drive/run-service.js";
import type { RunInput } from "../thread/run-input.js";
import { type ThreadAddress, threadAddress } from "../thread/thread-address.js";
import type { ClaimedTick, Cron, CronTick, TickOutcome } from "./cron.js";
import type { CronStore } from "./cron-store.js";
import { tickAlias } from "./cron-tick.js";

export interface DeliveryDeps {
  readonly store: Pick<CronStore, "find" | "ticks">;
  readonly registry: Pick<RunRegistry, "find">;
  /** Throws what refuses the run. */
  readonly start: (request: StartRunRequest) => Promise<{ readonly run: RunRecord }>;
}

/** Makes a tick an ordinary run. Delivered twice it is the same run. Throws what kept it from being decided. */
export async function deliverTick(deps: DeliveryDeps, { cron, tick }: ClaimedTick): Promise<TickOutcome> {
  const thread = threadOf(cron, tick);
  const alias = tickAlias(tick);
  const same = await deps.registry.find(thread.ref, { alias });
  if (same) return { kind: "started", runId: same.runId };
  const { definition } = cron;
  if (definition.threadName === null && definition.overlap === "skip") {
    const open = await openRunBefore(deps, cron, tick);
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

/** How far back a run that still goes on is looked for. */
const LOOK_BACK = 10;

/** Ticks with threads of their own never meet in one, so whether the one before still runs has to be asked. */
async function openRunBefore(
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
