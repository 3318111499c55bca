import {
  type AgentCatalogPort,
  type Clock,
  type EmbeddedFile,
  type ExternalRunsPort,
  type FreshRunStart,
  type GraphExecutorPort,
  type GraphFinal,
  type GraphRunStart,
  type GraphStatePort,
  isStoreOutage,
  type PayloadOf,
  ThroughlineError,
  type UsagePort,
} from "@throughline/ai-core";
import { type ItemizedBill, type MeteredRun, withMeteredRun } from "@throughline/billing";
import type { ThreadProjection } from "@throughline/reading";
import type {
  Finish,
  Lease,
  LeasedRun,
  LeaseKeeper,
  RunRecord,
  RunRegistry,
  ThreadDirectory,
  ThreadLog,
} from "@throughline/thread-log";
import type { RunBilling } from "../accounts/billing.js";
import type { GeneratedFiles } from "../attachments/receive-file.js";
import { type GraphFailure, runLabelsOf, type ServiceObserver } from "../operations/observer.js";
import { untilElapsed } from "../operations/poller.js";
import { acquireAt, type LiveThreads } from "../streams/thread-followers.js";
import { indexChangesOf, type MessageIndexer } from "../threads/message-index.js";
import { clientRunIdOf, decodeRunSpec, payerOf, personOf, type RunRequest } from "../threads/run-spec.js";
import { addressOf, schemaKeys } from "../threads/thread-address.js";
import { newMessages } from "./accept-input.js";
import { type AppendFailure, createAppendQueue } from "./append-queue.js";
import {
  finalFromCheckpoint,
  messagesAfter,
  openInterruptsAfter,
  unseenUserMessages,
} from "./checkpoint-reads.js";
import { planRecovery, type RecoveryPlan } from "./recovery.js";
import { createUsageFacts, noteEntry } from "./run-attempt.js";
import { runGraph } from "./run-graph.js";
import { holdLease } from "./run-lease.js";
import { createRunMedia, type RunMedia } from "./run-media.js";
import { createRunRecorder, type Retraction, type RunBounds, type RunRecorder } from "./run-recorder.js";

export interface DrivenRun {
  readonly run: RunRecord;
  /** Resolves once the run's beginning is in the log, or will not be; never rejects. */
  readonly begun: Promise<void>;
  /** Resolves once the run was ended or left; never rejects. `next`: a run of this thread waits. */
  readonly done: Promise<{ readonly next: boolean }>;
  stop(): void;
  /** Abandons the run without ending it, so that another instance may recover it. */
  handOver(): void;
}

export interface DriveOptions {
  /** Aborted when the instance has no more time to wait for its stores. */
  readonly closed: AbortSignal;
}

/** How long a run that is left waits for its last append. */
const LAST_APPEND_MS = 1_000;
/** An append that takes as many leases as this is not waited for any longer. */
const STALL_LEASES = 4;

/**
 * R1: the only reader of a run. Holds its lease, pumps its graph into the log to the end whether or not it is watched, and
 * finishes it exactly once. It waits through an outage of a store; when its lease may be gone it stops and leaves the run to be
 * recovered. What it writes after that, the fence refuses.
 */
export function driveRun(deps: DriverDeps, leased: LeasedRun, { closed }: DriveOptions): DrivenRun {
  const { log, registry, clock, observer, lease } = deps;
  const { run, fence } = leased;
  const about = runLabelsOf(run);
  const { promise: begun, resolve: begin } = deferred();
  let excess: ThroughlineError | undefined;
  let ending: PayloadOf<"run_end"> | undefined;

  const hold = holdLease({
    leased,
    keeper: deps.keeper,
    registry,
    clock,
    closed,
    onOutage: (outage) => observer.storeUnavailable(outage),
  });
  const queue = createAppendQueue({
    log,
    clock,
    thread: run.thread,
    fence,
    stallMs: STALL_LEASES * lease.leaseMs,
    onAppended: (count) => observer.entriesAppended(count),
    onFailure,
  });

  function onFailure(failure: AppendFailure): void {
    switch (failure.kind) {
      case "refused":
        observer.appendRefused(failure.reason);
        leave(failure.reason === "deleted" ? "deleted" : "lost_lease");
        break;
      case "failed":
        observer.failed("The log could not be written.", failure.error, about);
        leave(isStoreOutage(failure.error) ? "stalled" : "failed");
        break;
      case "stalled":
        leave("stalled");
        break;
    }
  }

  function leave(why: Parameters<typeof hold.leave>[0]): void {
    hold.leave(why);
    queue.close();
  }

  async function drive(): Promise<{ next: boolean }> {
    try {
      const ended = await work();
      if (ended) return ended;
    } catch (error) {
      if (hold.abandonReason() === undefined) observer.failed("A run could not be driven.", error, about);
      leave(isStoreOutage(error) ? "stalled" : "failed");
    } finally {
      hold.close();
      begin();
    }
    queue.close();
    // An append in flight need not be repeated if it still arrives; during an outage of the store it does not.
    const patience = untilElapsed(clock, LAST_APPEND_MS);
    await Promise.race([queue.landed(), patience]);
    patience.cancel();
    return releaseRun();
  }

  /** Releases the run, which continues elsewhere, or here, with another lease. */
  async function releaseRun(): Promise<{ next: boolean }> {
    const why = hold.abandonReason() ?? "lost_lease";
    observer.runLeft({ ...about, why });
    try {
      switch (why) {
        case "failed":
          // Left to run out, so that a run whose driver keeps failing spends its budget and ends.
          return run.crashes >= deps.maxCrashes ? await finishUnlogged({ status: "lost" }) : { next: false };
        case "deleted":
          // The deletion waits for the last word of the driver.
          return await finishUnlogged({ status: "cancelled" });
        default:
          await hold.release();
      }
    } catch (error) {
      observer.failed("A lease could not be released; it runs out by itself.", error, about);
    }
    return { next: false };
  }

  /** For a run whose end is not written to the log. */
  async function finishUnlogged(end: Finish): Promise<{ next: boolean }> {
    const result = await registry.finish(fence, end);
    if (!result.ok) return { next: false };
    observer.runEnded({ ...about, status: end.status });
    return { next: result.next !== undefined };
  }

  /** `undefined` when the run is left. */
  async function work(): Promise<{ next: boolean } | undefined> {
    const request = decodeRunSpec(run.request);
    if (!request.ok) {
      observer.badRow({ table: "runs", id: run.runId, error: request.error });
      return finishUnlogged({ status: "error" });
    }
    const thread = addressOf(run, request.value.stateKey);
    const taken = await acquireAt(deps.views, thread, leased.head, hold.left);
    if (!taken) return undefined;
    try {
      return await attempt(request.value, taken.view.fold());
    } finally {
      taken.release();
    }
  }

  async function attempt(
    request: RunRequest,
    fold: ThreadProjection,
  ): Promise<{ next: boolean } | undefined> {
    const plan = await hold.ask(() => planRecovery(deps, run, { fold, position: leased.head }));
    if (plan.kind === "ended") return finishUnlogged(plan);
    if (run.attempt > 0) observer.recovered(about);
    const withdrawal = await withdrawalOf(plan, fold);
    const recorder = await openRecorder(request, fold, withdrawal);
    const media = createRunMedia({
      thread: run.thread,
      keeper: deps.fileKeeper,
      onRefused: (file, why) => recorder.warn(notStored(file, why)),
      onFailed: (error) => observer.failed("A file that a graph made could not be stored.", error, about),
    });
    const start = freshStart(run.start, plan.kind === "again" || request.isAgain ? undefined : fold);
    recorder.start(runStart(run, request, await shownStart(request, start, fold, media)));
    observer.runStarted(about);
    if (request.work === "foreign") await queue.drained();
    begin();
    const reached = await media.drain(await reachEnd(request, start, recorder, media), hold.left);
    const final: GraphFinal = { ...reached, interrupts: openInterruptsAfter(reached, start, fold) };
    if (hold.abandonReason() !== undefined) {
      recorder.close();
      return undefined;
    }
    for (const channel of final.unstored ?? []) recorder.warn(stateNotStored(channel));
    const end: Finish = {
      status: final.error?.code === "run_lost" ? "lost" : final.status,
      interrupts: final.interrupts.map((open) => open.interrupt_id),
      upstreamRunId: final.upstreamRunId,
    };
    await recorder.finish(final, end, async (counted) =>
      request.work === "graph" ? billSoFar(request, counted) : undefined,
    );
    const drained = await queue.drained();
    if (!drained.ok) return undefined;
    if (final.status === "error") observer.graphFailed(about, failureOf(final, ending));
    observer.runEnded({ ...about, status: end.status });
    deps.said.note(indexChangesOf(run, fold, withdrawal.messageIds, final));
    return { next: drained.next !== undefined };
  }

  async function withdrawalOf(
    plan: Extract<RecoveryPlan, { kind: "fresh" | "again" }>,
    fold: ThreadProjection,
  ): Promise<Retraction> {
    if (plan.kind === "again") return { messageIds: plan.withdrawn, reason: "taken_over" };
    const start = run.start?.kind === "continue" ? run.start.original : run.start;
    if (start?.kind !== "fork") return { messageIds: [], reason: "went_back" };
    const behind = () => messagesAfter(deps.state, run, start.checkpointId, fold);
    return { messageIds: await hold.ask(behind), reason: "went_back" };
  }

  async function openRecorder(
    request: RunRequest,
    fold: ThreadProjection,
    withdrawal: Retraction,
  ): Promise<RunRecorder> {
    const agent = await deps.agents.getAgent(run.graphId);
    // Only runs that were started here are billed, and a meter reports the calls it sees itself.
    const factOf =
      request.work === "graph" && !deps.billing.isMetered
        ? createUsageFacts(run, request, deps.executor.executorType)
        : () => undefined;
    return createRunRecorder({
      run,
      request,
      clock,
      queue,
      fold,
      withdrawal,
      stateKeys: agent && schemaKeys(agent.outputSchema),
      subgraphs: agent?.subgraphs,
      showErrors: deps.showGraphErrors,
      bounds: deps.boundsOf(run.thread.account),
      onExcess(error) {
        excess = error;
        hold.abort(error);
      },
      onEnvelope(envelope) {
        noteEntry(observer, about, envelope);
        if (envelope.type === "run_end") ending = envelope.payload;
        const fact = factOf(envelope);
        if (fact)
          deps.usage.record(fact).catch((error) => observer.failed("Usage was not recorded.", error, about));
      },
    });
  }

  /** The start of the run as subscribers see it. */
  async function shownStart(
    { work: kind }: RunRequest,
    start: FreshRunStart,
    fold: ThreadProjection,
    media: RunMedia,
  ): Promise<FreshRunStart> {
    if (kind !== "foreign") return start;
    return { kind: "input", messages: await unseenUserMessages(deps.state, run, fold, media) };
  }

  async function reachEnd(
    request: RunRequest,
    start: FreshRunStart,
    recorder: RunRecorder,
    media: RunMedia,
  ): Promise<GraphFinal> {
    const byCheckpoint = () => hold.ask(() => finalFromCheckpoint(deps.state, run));
    if (request.work === "reconcile" || (request.work === "foreign" && !deps.foreignRuns))
      return byCheckpoint();
    if (run.crashes > deps.maxCrashes) {
      const error = new ThroughlineError(
        "run_lost",
        `The run's server crashed ${run.crashes} times while it ran, and it was given up.`,
      );
      return { ...(await byCheckpoint()), ok: false, status: "error", error };
    }
    const graph = { leased, request, start, signal: hold.work, recorder, queue, media };
    const reached = await observer.within(about, () =>
      withMeteredRun(meteredRun(request), () => runGraph(deps, graph)),
    );
    // The graph may have ended or not: only a recovery can find out, from its checkpoint.
    if (isStoreOutage(reached.error)) leave("stalled");
    if (hold.abandonReason() !== undefined) return reached;
    const final: GraphFinal = excess ? { ...reached, ok: false, status: "error", error: excess } : reached;
    if (final.checkpointId !== undefined) return final;
    // Stopped before the graph was opened, or not waited for: what it left behind is still the truth.
    const left = await readCheckpoint(byCheckpoint);
    return { ...left, ...final, interrupts: left.interrupts ?? final.interrupts };
  }

  /** Returns the run's bill. One that can't be read never fails the run, which is shown without a cost. */
  async function billSoFar(
    request: RunRequest,
    { model_calls: modelCalls }: PayloadOf<"usage">,
  ): Promise<ItemizedBill | undefined> {
    try {
      const bill = await hold.ask(() => deps.billing.billOf(run.runId));
      const isMetered = deps.executor.executorType !== "langgraph_server";
      if (!bill || isMetered || bill.calls >= modelCalls) return bill;
      const { billingAccountId: account, subject } = payerOf(request);
      const { runId, graphId, thread } = run;
      // Before the run ends: its driver may die right after.
      await hold.ask(() =>
        deps.billing.addUnbilled({
          runId,
          account,
          subject,
          threadId: thread.threadId,
          graphId,
          modelCalls,
        }),
      );
      return bill;
    } catch (error) {
      if (isStoreOutage(error)) throw error;
      observer.billed({ kind: "failed", error });
      return undefined;
    }
  }

  function meteredRun(request: RunRequest): MeteredRun {
    return {
      runId: run.runId,
      attempt: run.attempt,
      threadId: run.thread.threadId,
      graphId: run.graphId,
      ingressRequestId: request.ingressRequestId,
      caller: payerOf(request),
      executorType: deps.executor.executorType,
    };
  }

  /** A thread whose checkpoint can't be read (its graph is gone) ends its run without one. */
  async function readCheckpoint(byCheckpoint: () => Promise<GraphFinal>): Promise<Partial<GraphFinal>> {
    try {
      return await byCheckpoint();
    } catch (error) {
      if (isStoreOutage(error)) throw error;
      return {};
    }
  }

  return { run, begun, done: drive(), stop: hold.stop, handOver: () => leave("handed_over") };
}

function notStored({ filename, mimeType }: EmbeddedFile, why: string): PayloadOf<"warning"> {
  return { code: "file_not_stored", message: `${filename ?? `A file (${mimeType})`} was not stored: ${why}` };
}

function stateNotStored(channel: string): PayloadOf<"warning"> {
  return {
    code: "state_not_stored",
    message: `The state's "${channel}" was not stored: it holds a value that can't be written as JSON, such as a BigInt. Convert it before the node returns it.`,
  };
}

function failureOf({ error }: GraphFinal, ending: PayloadOf<"run_end"> | undefined): GraphFailure {
  const { class: kind, node = null } = ending?.error ?? {};
  return { error: error?.cause ?? error, class: kind, node };
}

function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

/** Waiting in the queue, a run's messages may have entered the thread by another way. */
function freshStart(start: GraphRunStart | undefined, fold: ThreadProjection | undefined): FreshRunStart {
  if (start === undefined || start.kind === "continue") return { kind: "input", messages: [] };
  if (start.kind !== "input" || fold === undefined) return start;
  return { ...start, messages: newMessages(fold, start.messages) };
}

function runStart(run: RunRecord, request: RunRequest, start: FreshRunStart): PayloadOf<"run_start"> {
  const { id, kind } = run.origin;
  const person = personOf(request);
  return {
    graph_id: run.graphId,
    ...(run.alias !== undefined && request.work === "graph" && { client_run_id: clientRunIdOf(run.alias) }),
    input: {
      messages: start.kind === "resume" ? [] : [...start.messages],
      ...(start.kind === "input" && start.state && { state: start.state }),
    },
    answers: start.kind === "resume" ? Object.keys(start.answers) : [],
    ...(start.kind === "resume" && { given: { ...start.answers } }),
    started_by: { kind, ...(id !== undefined && { id }), ...(person !== undefined && { person }) },
    ...(request.work === "reconcile" && { coarse: true }),
  };
}

/** Dependencies of the drivers on this instance. */
export interface DriverDeps {
  readonly log: ThreadLog;
  readonly views: LiveThreads;
  readonly registry: RunRegistry;
  readonly directory: ThreadDirectory;
  readonly keeper: LeaseKeeper;
  readonly executor: GraphExecutorPort;
  readonly state: GraphStatePort;
  /** Present where graphs run on a server that others use too. */
  readonly foreignRuns?: ExternalRunsPort | undefined;
  readonly agents: AgentCatalogPort;
  /** Stores the files that graphs make. */
  readonly fileKeeper: GeneratedFiles;
  /** Receives the usage of model calls that no meter sees. */
  readonly usage: UsagePort;
  readonly billing: RunBilling;
  /** Indexes the messages of runs for search. */
  readonly said: Pick<MessageIndexer, "note">;
  readonly clock: Clock;
  readonly observer: ServiceObserver;
  readonly lease: Lease;
  /** Whether a graph's own errors are shown to people. */
  readonly showGraphErrors: boolean;
  /** The output limits of an account's run. */
  readonly boundsOf: (account: string) => RunBounds;
  /** Crash recoveries before a run fails as `run_lost`. */
  readonly maxCrashes: number;
}
