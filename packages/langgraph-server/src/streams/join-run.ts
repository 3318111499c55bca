import { isDeepStrictEqual } from "node:util";
import type {
  Clock,
  EnvelopeBase,
  EnvelopeOf,
  JsonObject,
  LogEntry,
  LogPosition,
} from "@throughline/ai-core";
import { applyEntry, currentMessages, type ThreadProjection } from "@throughline/reading";
import type { RunRecord, RunRegistry } from "@throughline/thread-log";
import { untilElapsed } from "../operations/poller.js";
import { clientRunIdOf } from "../threads/run-spec.js";
import type { FrameEncoder, SseFrame } from "./frame-encoders.js";
import { joinAfterGap } from "./join-thread.js";
import { readRun } from "./read-projection.js";
import type { SubscribeFrom } from "./stream-types.js";
import type { Subscriber, SubscriberOptions } from "./subscriber.js";
import type { RunWaiter } from "./thread-broadcast.js";

export interface JoinRunOptions extends SubscriberOptions {
  readonly registry: Pick<RunRegistry, "find" | "onStop">;
}

type FromRun = Extract<SubscribeFrom, { kind: "run" }>;

/** Polls for a cancelled queued run, which the log has no entry of; the notification of a stop may be missed. */
const JOIN_POLL_MS = 2_000;

/** Joins a subscriber to the run it asked for, from the run's beginning, which may be past or yet to come. */
export async function joinRun(about: JoinRunOptions, subscriber: Subscriber, from: FromRun): Promise<void> {
  const { view } = about.channel;
  const start = recentStart(about, from);
  if (start) return replay(about, subscriber, from, start);
  const position = view.position();
  if (view.fold().run?.run_id === from.runId && position) return find(about, subscriber, from, position);
  const ended = await waitForRun(about, subscriber, from);
  if (ended === undefined || subscriber.gone.aborted) return;
  const end = await subscriber.ask(() => about.log.terminal(about.thread.ref, from.runId));
  if (subscriber.gone.aborted) return;
  if (end) {
    // The view may not have received the end yet: then it would show a thread in which nothing runs.
    await view.reached(end);
    return subscriber.gone.aborted ? undefined : find(about, subscriber, from, end);
  }
  await view.ready();
  if (subscriber.gone.aborted) return;
  subscriber.joined("run");
  subscriber.writeUnshared(cancelledRunFrames(about.face, view.fold(), ended, about.clock.now()));
  subscriber.end("done");
}

/** The run's first entry, where memory has it. A recovered run has several `run_start`s, of which only the first begins it. */
function recentStart({ channel }: JoinRunOptions, { runId }: FromRun): LogEntry | undefined {
  const { recent } = channel.view;
  const start = recent.find(({ envelope }) => envelope.type === "run_start" && envelope.run_id === runId);
  return start && recent.foldAt(start.seq - 1)?.run?.run_id !== runId ? start : undefined;
}

/** Resolves with the run once it has ended unseen; `undefined` when it began, and is streamed live, or the subscriber left. */
function waitForRun(
  about: JoinRunOptions,
  subscriber: Subscriber,
  from: FromRun,
): Promise<RunRecord | undefined> {
  const { channel, registry, thread, clock } = about;
  return new Promise((resolve, reject) => {
    let pause: ReturnType<typeof untilElapsed> | undefined;
    let waits = true;
    const waiter = {
      runId: from.runId,
      begin(before: ThreadProjection, entry: LogEntry) {
        stop(undefined);
        sendStart(about, subscriber, from, before, entry);
        subscriber.goLive();
      },
      end: subscriber.end,
    };
    let isNotified = false;
    const unsubscribe = registry.onStop((runId) => {
      if (runId !== from.runId) return;
      isNotified = true;
      pause?.cancel();
    });
    const stop = (run: RunRecord | undefined) => {
      waits = false;
      unsubscribe();
      pause?.cancel();
      channel.drop(waiter);
      resolve(run);
    };
    const poll = async () => {
      if (from.isNew) {
        pause = untilElapsed(clock, JOIN_POLL_MS);
        await pause;
      }
      while (waits) {
        isNotified = false;
        const run = await subscriber.ask(() => registry.find(thread.ref, { runId: from.runId }));
        if (!waits) return;
        if (run === undefined) {
          stop(undefined);
          return subscriber.end("deleted");
        }
        if (run.status !== "queued" && run.status !== "running") return stop(run);
        if (isNotified) continue;
        pause = untilElapsed(clock, JOIN_POLL_MS);
        await pause;
      }
    };
    // In this order a run that begins in between is not missed.
    channel.waitFor(waiter);
    subscriber.gone.addEventListener("abort", () => stop(undefined), { once: true });
    poll().catch(reject);
  });
}

async function find(
  about: JoinRunOptions,
  subscriber: Subscriber,
  from: FromRun,
  until: LogPosition,
): Promise<void> {
  const [start] = await subscriber.ask(() => readRun(about.log, about.thread.ref, from.runId, until));
  if (subscriber.gone.aborted) return;
  return start?.envelope.type === "run_start"
    ? replay(about, subscriber, from, start)
    : joinAfterGap(about, subscriber);
}

async function replay(
  about: JoinRunOptions,
  subscriber: Subscriber,
  from: FromRun,
  start: LogEntry,
): Promise<void> {
  const before = await subscriber.foldAt({ epoch: start.epoch, seq: start.seq - 1 });
  if (subscriber.gone.aborted) return;
  // Inside the run already: its beginning was trimmed away, and what is left does not start a stream.
  const isBeginning = !about.face.needsFold || before?.run?.run_id !== from.runId;
  if (before === undefined || !isBeginning) return joinAfterGap(about, subscriber);
  sendStart(about, subscriber, from, before, start);
  return subscriber.catchUp({ fold: applyEntry(before, start), seq: start.seq }, from.runId);
}

/** Sends the run's first frame; or, to a subscriber that lacks what the run builds on, R11's prelude instead. */
function sendStart(
  { face, channel }: JoinRunOptions,
  subscriber: Subscriber,
  { holds, knowsNothing = false }: FromRun,
  before: ThreadProjection,
  entry: LogEntry,
): void {
  subscriber.joined("run");
  const { envelope } = entry;
  const lacks =
    knowsNothing || (holds && envelope.type === "run_start" && isStaleClient(holds, before, envelope));
  const prelude = lacks ? face.prelude(applyEntry(before, entry), entry) : undefined;
  if (prelude && prelude.length > 0) subscriber.writeUnshared(prelude);
  else subscriber.write(channel.encoded(face, before, entry));
}

export interface RunStartOptions extends Pick<SubscriberOptions, "thread" | "channel"> {
  readonly registry: Pick<RunRegistry, "active" | "find">;
  readonly clock: Clock;
}

/** Polls for runs that another instance ended before they began: no notification reports those. */
const START_POLL_MS = 2_000;

/**
 * Resolves when the log has the run that holds the thread. Between the registry and the first entry a driver may die; a
 * subscriber that comes then belongs to that run, which will be recovered, and not to a thread that looks idle.
 */
export async function waitForRunStart(about: RunStartOptions, subscriber: Subscriber): Promise<void> {
  const { registry, thread } = about;
  const { view } = about.channel;
  if (view.fold().run?.open) return;
  const active = await subscriber.ask(() => registry.active(thread.ref));
  if (!active || view.fold().run?.run_id === active.runId || subscriber.gone.aborted) return;
  await waitUntilShownOrOver(about, subscriber, active.runId);
}

function waitUntilShownOrOver(
  { channel, registry, thread, clock }: RunStartOptions,
  subscriber: Subscriber,
  runId: string,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let waits = true;
    let pause: ReturnType<typeof untilElapsed> | undefined;
    const stop = () => {
      waits = false;
      pause?.cancel();
      channel.drop(waiter);
      resolve();
    };
    const waiter: RunWaiter = { runId, begin: stop, end: stop };
    const poll = async () => {
      while (waits) {
        const run = await subscriber.ask(() => registry.find(thread.ref, { runId }));
        if (run?.status !== "running") return stop();
        pause = untilElapsed(clock, START_POLL_MS);
        await pause;
      }
    };
    channel.waitFor(waiter);
    subscriber.gone.addEventListener("abort", stop, { once: true });
    poll().catch(reject);
  });
}

/**
 * Whether a client that starts a run lacks something of the thread it runs on: a message another device wrote, or the state
 * that the run's deltas will be about. Anything the client holds beyond that is ignored.
 */
function isStaleClient(
  holds: { readonly messageIds: readonly string[]; readonly state: JsonObject },
  before: ThreadProjection,
  start: EnvelopeOf<"run_start">,
): boolean {
  const held = new Set([...holds.messageIds, ...start.payload.input.messages.map(({ id }) => id)]);
  const lacksMessage = currentMessages(before).some(
    ({ id, subagent_id, bare }) => subagent_id === undefined && !bare && !held.has(id),
  );
  return (
    lacksMessage ||
    Object.entries(before.state).some(([key, value]) => !isDeepStrictEqual(holds.state[key], value))
  );
}

/** R25: frames of a run that was stopped before it began and so is in no log. The client gets a run that began and ended. */
function cancelledRunFrames(
  face: FrameEncoder,
  fold: ThreadProjection,
  run: RunRecord,
  nowMs: number,
): SseFrame[] {
  const base: EnvelopeBase = {
    ts: nowMs / 1_000,
    trace_id: run.runId,
    run_id: run.runId,
    thread_id: run.thread.threadId,
    attempt: run.attempt,
    parent_id: null,
    call_id: run.runId,
    seq: 1,
    origin: "live",
    agent: run.graphId,
  };
  const { kind, id } = run.origin;
  const start: LogEntry = {
    epoch: "none",
    seq: 0,
    envelope: {
      ...base,
      type: "run_start",
      payload: {
        graph_id: run.graphId,
        ...(run.alias !== undefined && { client_run_id: clientRunIdOf(run.alias) }),
        input: { messages: [] },
        answers: [],
        started_by: { kind, ...(id !== undefined && { id }) },
      },
    },
  };
  const end: LogEntry = {
    epoch: "none",
    seq: 0,
    envelope: { ...base, seq: 2, type: "run_end", payload: { status: "cancelled" } },
  };
  // Another run may be open, which this reader did not ask for.
  const idle: ThreadProjection = { ...fold, run: null, openSteps: [], openMessages: [], openSubagents: [] };
  const started: ThreadProjection = {
    ...idle,
    run: {
      run_id: run.runId,
      client_run_id: run.alias === undefined ? null : clientRunIdOf(run.alias),
      attempt: 0,
      open: true,
      status: null,
    },
  };
  const frames = [...face.frames(idle, start, "live"), ...face.frames(started, end, "live")];
  // They have no position in the log, so no client can reconnect from one.
  return frames.map(({ id: _, ...frame }) => frame);
}
