import type { Client, Run, ThreadState } from "@langchain/langgraph-sdk";
import type { Clock, UpstreamChunk } from "@throughline/ai-core";
import { isUnreachable, pause, type ServerEvent, statusOf } from "./client.js";
import { createEndSigns, createLogPosition, type EndSign } from "./stream-position.js";

export interface Patience {
  /** Silence after which the run is looked up and its stream rejoined: the server sends no heartbeats. */
  readonly idleMs: number;
  /** How long a log that exists may take to send its first event after a join. */
  readonly probeMs: number;
  /** No sign of life for this long, from the server or from the run, and the run counts as lost. */
  readonly lostAfterMs: number;
  /** How long a cancelled run may take to stop. */
  readonly cancelMs: number;
}

interface Ended {
  readonly kind: "ended";
  readonly run: Run;
  readonly sign: EndSign;
  /** The thread right after the end, where it had to be read anyway. */
  readonly state?: ThreadState;
}

export type FollowEnd =
  | Ended
  /** The server does not know the run. */
  | { readonly kind: "gone" }
  /** The server's record has it as running, but it is not: a restart left the record behind. */
  | { readonly kind: "dead" }
  /** The server was restarted and began the run again: the events read so far have no continuation. */
  | { readonly kind: "restarted" }
  | { readonly kind: "unreachable" }
  /** It was cancelled and continues. */
  | { readonly kind: "unstoppable" }
  /** The server responds, and refuses the read. */
  | { readonly kind: "refused"; readonly error: unknown }
  /** The caller left; the run continues. */
  | { readonly kind: "left" };

export interface FollowOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly patience: Patience;
  /** Cancels the run upstream and follows it to its end. */
  readonly stop: AbortSignal;
  /** Leaves the run alone and ends at once. */
  readonly leave: AbortSignal;
  /** Upstream event id to begin after; all of the log when absent. */
  readonly after?: string;
}

const CANCEL_POLL_MS = 40;
const END_POLL_MS = 8;
const LONGEST_BACKOFF_MS = 1_000;
const FRUITLESS_JOINS = 3;

/**
 * Reads a run to its end over any number of connections: each event once, in order. The stream alone proves nothing (a
 * cancelled run looks like a finished one, a dead one like a slow one), so every silence and every close is checked
 * against the run's record.
 */
export async function* followRun(
  run: UpstreamRun,
  options: FollowOptions,
): AsyncGenerator<ServerEvent, FollowEnd, undefined> {
  const { client, clock, patience, stop, leave } = options;
  const position = createLogPosition(options.after);
  const signs = createEndSigns();
  const lookUp = createLookUp(client, run);
  const hurry = AbortSignal.any([stop, leave]);
  let failingSince: number | undefined;
  let fruitlessJoins = 0;
  let runningInSilenceSince: number | undefined;
  let cancelledAt: number | undefined;

  /** Checks the record of a run whose stream closed, or brought nothing for a while. `undefined`: read on. */
  async function inspect(
    received: boolean,
    after: "close" | "idle" | "pause",
  ): Promise<FollowEnd | "rejoin" | undefined> {
    const closed = after === "close";
    const found = await lookUp.run();
    failingSince = undefined;
    if (found === undefined) return { kind: "gone" };
    const now = clock.now();
    if (isOver(found)) {
      const ended: Ended = { kind: "ended", run: found, sign: signs.current };
      if (cancelledAt !== undefined) return ended;
      // A close without an end in sight may be a proxy's: it takes a second one to believe it.
      const believable = isEnd(signs.current) || found.status === "interrupted" || fruitlessJoins > 0;
      if (closed && believable) return ended;
      if (!received && fruitlessJoins >= FRUITLESS_JOINS) return ended;
      if (!closed && isEnd(signs.current) && after === "pause") return confirmEnd(ended);
      return "rejoin";
    }
    if (cancelledAt !== undefined) {
      if (now - cancelledAt < patience.cancelMs) return undefined;
      return received ? { kind: "unstoppable" } : { kind: "dead" };
    }
    if (closed || (received && after === "idle")) return "rejoin";
    if (received) return undefined;
    if (found.status === "pending") return position.begun ? { kind: "restarted" } : undefined;
    if (position.begun) return fruitlessJoins > 1 ? { kind: "dead" } : "rejoin";
    // The record turns to running before the graph is loaded, so a young run may be silent for a while.
    runningInSilenceSince ??= now;
    return now - runningInSilenceSince >= patience.lostAfterMs ? { kind: "dead" } : undefined;
  }

  /** The stream will stay open for another half second; the checkpoint shows whether anything can still come. */
  async function confirmEnd(ended: Ended): Promise<FollowEnd | undefined> {
    if (ended.sign.kind !== "values") return ended;
    if (ended.sign.checkpointId === undefined) return undefined;
    const state = await lookUp.state();
    return state?.checkpoint?.checkpoint_id === ended.sign.checkpointId ? { ...ended, state } : undefined;
  }

  async function cancelOnce(): Promise<void> {
    if (!stop.aborted || cancelledAt !== undefined) return;
    await lookUp.cancel();
    cancelledAt = clock.now();
  }

  /** Reads one connection, until there is an end or a reason to reconnect. */
  async function* readOnce(reader: RunReader): AsyncGenerator<ServerEvent, FollowEnd | "rejoin", undefined> {
    let received = false;
    let polls = 0;
    for (;;) {
      if (leave.aborted) return { kind: "left" };
      await cancelOnce();
      const wait = waitFor(received, polls);
      const step = await reader.next(wait, cancelledAt === undefined ? hurry : leave);
      if (step.kind === "event") {
        if (isNotFound(step.event)) return { kind: "gone" };
        received = true;
        const arrival = position.arrive(step.event);
        if (arrival === "other_log") return { kind: "restarted" };
        failingSince = undefined;
        if (arrival === "known") continue;
        polls = 0;
        fruitlessJoins = 0;
        signs.push(step.event);
        yield step.event;
        continue;
      }
      if (step.kind === "cut") throw step.error;
      if (hurry.aborted && cancelledAt === undefined) continue;
      polls++;
      const quiet = wait < patience.idleMs ? "pause" : "idle";
      const verdict = await inspect(received, step.kind === "closed" ? "close" : quiet);
      if (verdict !== undefined) return verdict;
      if (step.kind === "closed") return "rejoin";
    }
  }

  function waitFor(received: boolean, polls: number): number {
    if (cancelledAt !== undefined) return CANCEL_POLL_MS;
    if (!received) return patience.probeMs;
    return isEnd(signs.current) ? Math.min(END_POLL_MS * 2 ** polls, patience.idleMs) : patience.idleMs;
  }

  for (;;) {
    const reader = openRunReader(client, clock, run, position.rejoin());
    try {
      const verdict = yield* readOnce(reader);
      if (verdict !== "rejoin") return verdict;
    } catch (error) {
      if (isRefusal(error)) return { kind: "refused", error };
      failingSince ??= clock.now();
      const bound = stop.aborted ? patience.cancelMs : patience.lostAfterMs;
      if (clock.now() - failingSince >= bound) return { kind: "unreachable" };
      if (fruitlessJoins >= FRUITLESS_JOINS) {
        // Every stream is cut before it brings anything; the record may still be readable.
        const found = await lookUp.run().catch(() => undefined);
        if (found && isOver(found)) return { kind: "ended", run: found, sign: signs.current };
      }
    } finally {
      reader.leave();
    }
    await pause(clock, backoff(fruitlessJoins++), stop.aborted ? leave : hurry);
  }
}

/** Whether a retry would get the same response, unlike after a broken connection or from a failing server. */
function isRefusal(error: unknown): boolean {
  const status = statusOf(error);
  return status !== undefined && status < 500 && !isUnreachable(error);
}

/** At once after a connection that brought something: cuts are common and the log is waiting. */
function backoff(fruitlessJoins: number): number {
  return fruitlessJoins === 0 ? 0 : Math.min(25 * 2 ** fruitlessJoins, LONGEST_BACKOFF_MS);
}

export function isOver(run: Run): boolean {
  return run.status !== "pending" && run.status !== "running";
}

function isEnd(sign: EndSign): boolean {
  return sign.kind !== "none";
}

/** For an unknown run the server responds with 200 and then this, a plain string instead of an error object. */
function isNotFound({ event, data }: ServerEvent): boolean {
  return event === "error" && data === "Run not found";
}

/** Plain requests in addition to the stream. */
function createLookUp(client: Client, { threadId, upstreamRunId }: UpstreamRun) {
  const unlessMissing = async <T>(request: Promise<T>): Promise<T | undefined> => {
    try {
      return await request;
    } catch (error) {
      if (statusOf(error) === 404) return undefined;
      throw error;
    }
  };
  return {
    run: () => unlessMissing(client.runs.get(threadId, upstreamRunId)),
    state: () => client.threads.getState(threadId, undefined, { subgraphs: true }).catch(() => undefined),
    cancel: () => unlessMissing(client.runs.cancel(threadId, upstreamRunId)),
  };
}

/** A run as the server names it. */
export interface UpstreamRun {
  readonly threadId: string;
  readonly upstreamRunId: string;
}

export type ReaderStep =
  | { readonly kind: "event"; readonly event: ServerEvent }
  /** Nothing came within the given time; later events are not lost. */
  | { readonly kind: "quiet" }
  /** The server ended the stream. */
  | { readonly kind: "closed" }
  /** The connection broke, or was never made. */
  | { readonly kind: "cut"; readonly error: unknown };

/** One connection to a run's stream. The server sends no pings, so every read has its own timeout. */
interface RunReader {
  next(waitMs: number, hurry?: AbortSignal): Promise<ReaderStep>;
  leave(): void;
}

function openRunReader(
  client: Client,
  clock: Clock,
  { threadId, upstreamRunId }: UpstreamRun,
  lastEventId: string,
): RunReader {
  const leaving = new AbortController();
  const events = client.runs.joinStream(threadId, upstreamRunId, {
    // Without this header the first join of a pending run makes its log unreplayable for everyone.
    lastEventId,
    signal: leaving.signal,
    streamIdleReconnect: 0,
  });
  let ahead: Promise<ReaderStep> | undefined;

  const read = (): Promise<ReaderStep> =>
    events.next().then(
      ({ done, value }): ReaderStep => (done ? { kind: "closed" } : { kind: "event", event: value }),
      (error: unknown): ReaderStep => ({ kind: "cut", error }),
    );

  return {
    async next(waitMs, hurry) {
      ahead ??= read();
      const step = await within(ahead, clock, waitMs, hurry);
      if (step.kind !== "quiet") ahead = undefined;
      return step;
    },
    leave: () => leaving.abort(),
  };
}

function within(
  step: Promise<ReaderStep>,
  clock: Clock,
  waitMs: number,
  hurry: AbortSignal | undefined,
): Promise<ReaderStep> {
  return new Promise((resolve) => {
    const complete = (value: ReaderStep) => {
      timer.cancel();
      hurry?.removeEventListener("abort", giveUp);
      resolve(value);
    };
    const giveUp = () => complete({ kind: "quiet" });
    const timer = clock.schedule(hurry?.aborted ? 0 : waitMs, giveUp);
    hurry?.addEventListener("abort", giveUp, { once: true });
    void step.then(complete);
  });
}

/** A log's past arrives in one burst; the first wait between two events is where the present begins. */
const BURST_GAP_MS = 8;

export interface MarkedEvent {
  readonly event: ServerEvent;
  readonly origin: NonNullable<UpstreamChunk["origin"]>;
}

/** Marks events that a run had streamed before its reader joined. `hasBegun`: the run was under way then; else all are live. */
export async function* markReplayed(
  events: AsyncGenerator<ServerEvent, FollowEnd, undefined>,
  { clock, hasBegun }: { readonly clock: Clock; readonly hasBegun: boolean },
): AsyncGenerator<MarkedEvent, FollowEnd, undefined> {
  let origin: MarkedEvent["origin"] = hasBegun ? "replay" : "live";
  for (let received = 0; ; received++) {
    const askedAt = clock.now();
    const step = await events.next();
    if (step.done) return step.value;
    // The first event waits for the connection and not for the run.
    if (received > 0 && clock.now() - askedAt >= BURST_GAP_MS) origin = "live";
    yield { event: step.value, origin };
  }
}
