import {
  type FreshRunStart,
  type GraphDescriptor,
  type GraphRunStart,
  type Message,
  newRunId,
  retryStore,
  ThroughlineError,
} from "@throughline/ai-core";
import {
  isBeingDeleted,
  type RunRecord,
  type StartLook,
  type StartResult,
  type StartRun,
} from "@throughline/thread-log";
import type { AccountLimiter, AccountLimits } from "../accounts/limits.js";
import { type AttachmentGate, storeInputAttachments } from "../attachments/input-attachments.js";
import { checkMediaUrls } from "../attachments/media-urls.js";
import { untilElapsed } from "../operations/poller.js";
import { acquireAt } from "../streams/thread-followers.js";
import { decodeRunSpec, encodeRunSpec, resumeAlias } from "../threads/run-spec.js";
import { requireAgent } from "../threads/thread-address.js";
import { acceptInput } from "./accept-input.js";
import { requireKnownCommand } from "./commands.js";
import { requireAcceptedConfig, selectModel } from "./run-configuration.js";
import type { DriverDeps } from "./run-driver.js";
import type { StartOutcome, StartRunRequest } from "./start-request.js";

export interface StartDeps
  extends Pick<
    DriverDeps,
    "agents" | "registry" | "views" | "log" | "clock" | "lease" | "billing" | "directory" | "observer"
  > {
  readonly admission: {
    readonly usage: AccountLimiter;
    readonly limitsOf: (account: string) => AccountLimits;
  };
  /**
   * Acquires the instance's own permit for one more run, replacing the one this start may hold; throws `rate_limited` where it
   * has none left. `isFollowing`: the thread has a run, which this one would wait for or preempt.
   */
  readonly enter: (isFollowing: boolean) => void;
  readonly attachments: AttachmentGate;
  /** Resolves when a run that this instance drives is over; `undefined` for any other. */
  readonly whenDone: (runId: string) => Promise<unknown> | undefined;
}

/** How long a start waits for a store in an outage before its client gets the error and retries later. */
const STORE_PATIENCE_MS = 10_000;
/** How long a start waits for a run that is about to end, or for a deletion, before its client is refused. */
const LATE_END_MS = 1_000;
const LATE_END_STEP_MS = 20;

/**
 * Starts a run: the one way in, for AG-UI, `POST /runs`, commands and crons. Its steps, in order: the agent, the account's
 * limits and the instance's, idempotency (R25), the model and the budget, the input measured against the thread (R26) with its attachments stored, then one write that
 * decides on open interrupts (R28) and busy threads (R24), leases the run, opens the log and lists the thread. On PostgreSQL
 * that is two round trips, and a third where this instance does not hold the thread's view yet.
 */
export async function startRun(deps: StartDeps, request: StartRunRequest): Promise<StartResult> {
  const { registry, clock } = deps;
  const { thread, command } = request;
  const agent = await requireAgent(deps.agents, thread.graphId);
  if (command) requireKnownCommand(agent, command);
  requireAcceptedConfig(agent, request.config);
  const runId = newRunId(clock);
  const ask = <Result>(attempt: () => Promise<Result>) =>
    retryStore({ clock, patienceMs: STORE_PATIENCE_MS }, attempt);
  const asked = await ask(() => findAliasedRun(deps, request));
  const alias = asked?.alias === undefined ? request.clientRunId : resumeAlias(asked.alias, runId);
  const answers = request.input.kind === "resume" ? Object.keys(request.input.answers) : [];
  const lookNow = () => ask(() => registry.look({ thread: thread.ref, runId, alias, answers }));

  const deadline = clock.now() + LATE_END_MS;
  const admitted = await admit(deps, request, lookNow);
  let { look } = admitted;
  try {
    for (;;) {
      if (look.same) return { kind: "attached", run: look.same };
      deps.enter(look.runs.running !== undefined);
      const known = look.model;
      const model = await ask(() => selectModel(deps.billing, agent, request, known));
      const start = await prepareInput(deps, request, agent, look);
      if (start === undefined) {
        // R25: the same request, sent twice at once, may have got its response in between.
        const same = (await lookNow()).same ?? asked;
        return same ? { kind: "attached", run: same } : { kind: "conflict", interruptIds: [] };
      }
      const row = rowOf(deps, { ...request, clientRunId: alias, model }, runId, start);
      // Also sent again with this look. It is out of date then, and finding that out waits, as each commit does, until replicas have
      // what was written: a look alone would see a run that a failover may still lose.
      const at = look;
      let isRetry = false;
      const writeOnce = () => {
        const written = registry.start({ ...row, isRetry }, at);
        isRetry = true;
        return written;
      };
      const result = await ask(writeOnce).catch((error: unknown) => {
        // A person's run in a thread that is being deleted waits; a cron's run there may be deleted with it.
        if (request.origin?.kind !== "cron" && isBeingDeleted(error) && clock.now() < deadline)
          return undefined;
        throw error;
      });
      if (result && (clock.now() >= deadline || !(await isTransientRefusal(deps, request, result, look)))) {
        if (result.kind === "started" || result.kind === "queued") await rememberModel(deps, request, known);
        return result;
      }
      await pause(deps, look.runs.running);
      look = await lookNow();
    }
  } finally {
    admitted.leave();
  }
}

/**
 * The run of the client's id, where that has ended and the request is a response: it interrupted, or it is this very response,
 * resent. The interrupt identifies the run: it gets one response.
 */
async function findAliasedRun(
  { registry }: StartDeps,
  { thread, input, clientRunId }: StartRunRequest,
): Promise<RunRecord | undefined> {
  if (clientRunId === undefined || (input.kind !== "answer" && input.kind !== "resume")) return undefined;
  const run = await registry.find(thread.ref, { alias: clientRunId });
  return run?.endedAt === undefined ? undefined : run;
}

/** The look is the count: a request that is sent again adds no run, so it passes at the limit, too (R25). */
async function admit(
  { admission: { usage, limitsOf } }: StartDeps,
  { caller: { billingAccountId: account } }: StartRunRequest,
  lookNow: () => Promise<StartLook>,
): Promise<{ readonly look: StartLook; leave(): void }> {
  let look: StartLook | undefined;
  const permit = await usage.start(account, limitsOf(account), async () => {
    look = await lookNow();
    return look.same ? 0 : look.openRuns;
  });
  return { look: look ?? (await lookNow()), leave: permit.leave };
}

/** Only where it changes, so that a run costs no statement more. The run has begun: a failure is reported to the operator alone. */
async function rememberModel(
  { directory, observer }: StartDeps,
  { thread, model, remembersModel }: StartRunRequest,
  known: string | undefined,
): Promise<void> {
  if (!remembersModel || model === undefined || model === known) return;
  try {
    await directory.change(thread.ref, { model });
  } catch (error) {
    observer.failed("The model that was chosen for a thread was not remembered.", error);
  }
}

/** R26: the graph's input; `undefined` for a response that names no interrupt where none is open (R28). */
async function prepareInput(
  deps: StartDeps,
  { thread, input, command }: StartRunRequest,
  agent: GraphDescriptor,
  { head }: StartLook,
): Promise<FreshRunStart | undefined> {
  const stored = await storeInputAttachments(input, thread.ref, deps.attachments);
  const taken = await acquireAt(deps.views, thread, head);
  try {
    const start = acceptInput(taken.view.fold(), agent, stored, command);
    if (start.kind === "no_question") return undefined;
    checkMediaUrls(start, input, deps.attachments.mediaOrigins);
    return start;
  } finally {
    taken.release();
  }
}

function rowOf(
  { lease }: StartDeps,
  request: StartRunRequest,
  runId: string,
  start: FreshRunStart,
): StartRun {
  const { thread } = request;
  return {
    ...lease,
    thread: thread.ref,
    stateKey: thread.stateKey,
    runId,
    alias: request.clientRunId,
    graphId: thread.graphId,
    origin: request.origin ?? { kind: "client" },
    start,
    request: encodeRunSpec({
      work: "graph",
      stateKey: thread.stateKey,
      ingressRequestId: request.ingressRequestId,
      ...(request.traceparent !== undefined && { traceparent: request.traceparent }),
      caller: request.caller,
      person: request.person,
      model: request.model,
      ...(request.config && { config: request.config }),
      tools: [...request.tools],
      context: [...request.context],
      command: request.command,
      ...(request.input.kind === "input" && request.input.isAgain && { isAgain: true }),
      ...(start.kind === "fork" && { checkpointId: start.checkpointId }),
      profile: request.profile,
      dialect: request.dialect,
    }),
    strategy: request.strategy,
    listing: { threadName: thread.threadName, derivedTitle: deriveTitle(start) },
  };
}

/**
 * Whether a refusal is about to be out of date: the run in the way has ended in the log (where that is not the registry's own
 * store), or it only records a checkpoint, which takes a moment.
 */
async function isTransientRefusal(
  { registry, log }: StartDeps,
  { thread }: StartRunRequest,
  result: StartResult,
  look: StartLook,
): Promise<boolean> {
  if (result.kind !== "busy" && result.kind !== "conflict") return false;
  const occupant = result.kind === "busy" ? result.runId : look.runs.running;
  if (occupant === undefined) return false;
  const run: RunRecord | undefined = await registry.find(thread.ref, { runId: occupant });
  if (run?.status !== "running") return true;
  const request = decodeRunSpec(run.request);
  if (request.ok && request.value.work === "reconcile") return true;
  return (await log.terminal(run.thread, run.runId)) !== undefined;
}

async function pause({ clock, whenDone }: StartDeps, running: string | undefined): Promise<void> {
  const step = untilElapsed(clock, LATE_END_STEP_MS);
  const done = running === undefined ? undefined : whenDone(running);
  await Promise.race([step, done].filter((wait) => wait !== undefined));
  step.cancel();
}

/** A start that left a run to subscribe to. */
export type AcceptedStart = Extract<StartOutcome, { run: unknown }>;

/** Returns the start if it made a run; else throws the reason, with the details a client needs to continue. */
export function requireAccepted(outcome: StartOutcome): AcceptedStart {
  switch (outcome.kind) {
    case "started":
    case "queued":
    case "attached":
    case "cancelled":
      return outcome;
    case "busy":
      throw new ThroughlineError("busy", "Another run is active in this thread.", {
        details: { runId: outcome.runId, retryAfterMs: outcome.retryAfterMs },
      });
    case "conflict":
      throw new ThroughlineError("conflict", "The question was already answered, or is not open.", {
        details: { interruptIds: [...outcome.interruptIds] },
      });
    case "interrupt_pending":
      throw new ThroughlineError("interrupt_pending", "This thread waits for an answer.", {
        details: { interruptIds: [...outcome.interruptIds] },
      });
  }
}

const MAX_CHARACTERS = 80;

/** The beginning of a run's first user message; `undefined` when it has none. */
export function deriveTitle(start: GraphRunStart | undefined): string | undefined {
  if (start?.kind !== "input" && start?.kind !== "fork") return undefined;
  for (const message of start.messages) {
    if (message.role !== "user") continue;
    const text = textOf(message).replace(/\s+/gu, " ").trim();
    if (text !== "") return shorten(text);
  }
  return undefined;
}

function textOf({ content }: Message): string {
  if (typeof content === "string") return content;
  return content.map((part) => (typeof part.text === "string" ? part.text : "")).join(" ");
}

/** By code points, so that no half of a pair is left at the end. */
function shorten(text: string): string {
  const characters = Array.from(text.slice(0, 2 * MAX_CHARACTERS + 2));
  return characters.length > MAX_CHARACTERS ? `${characters.slice(0, MAX_CHARACTERS - 1).join("")}…` : text;
}
