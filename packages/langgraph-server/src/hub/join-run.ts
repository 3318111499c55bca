import type { LogEntry, LogPosition } from "@throughline/ai-core";
import { applyEntry, type ThreadFold } from "@throughline/reading";
import type { RunRecord, RunRegistry } from "@throughline/thread-log";
import { readRun } from "../thread/read-run.js";
import { untilElapsed } from "../timing/until-elapsed.js";
import { joinAfterGap } from "./join-thread.js";
import { knowsLess } from "./knows-less.js";
import { neverRanFrames } from "./never-ran.js";
import type { Subscriber, SubscriberOptions } from "./subscriber.js";
import type { SubscribeFrom } from "./thread-hub.js";

export interface JoinRunOptions extends SubscriberOptions {
  readonly registry: Pick<RunRegistry, "find" | "onStop">;
}

type FromRun = Extract<SubscribeFrom, { kind: "run" }>;

/** A queued run may be cancelled, of which the log tells nothing; the notification of a stop may be missed. */
const POLL_MS = 2_000;

/** For a subscriber that asked for a run: from its beginning, which may be past, or yet to come. */
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
    // The view may not have heard of it yet: then it would show a thread in which nothing runs.
    await view.reached(end);
    return subscriber.gone.aborted ? undefined : find(about, subscriber, from, end);
  }
  await view.ready();
  if (subscriber.gone.aborted) return;
  subscriber.joined("run");
  subscriber.writeOwn(neverRanFrames(about.face, view.fold(), ended, about.clock.now()));
  subscriber.end("done");
}

/** The run's first entry, where memory has it. A recovered run has several `run_start`s, of which only the first begins it. */
function recentStart({ channel }: JoinRunOptions, { runId }: FromRun): LogEntry | undefined {
  const { recent } = channel.view;
  const start = recent.find(({ envelope }) => envelope.type === "run_start" && envelope.run_id === runId);
  return start && recent.foldAt(start.seq - 1)?.run?.run_id !== runId ? start : undefined;
}

/** Resolves with the run once it has ended unseen; `undefined` when it began, and is told live, or the subscriber left. */
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
      begin(before: ThreadFold, entry: LogEntry) {
        stop(undefined);
        tellStart(about, subscriber, from, before, entry);
        subscriber.goLive();
      },
      end: subscriber.end,
    };
    let told = false;
    const unsubscribe = registry.onStop((runId) => {
      if (runId !== from.runId) return;
      told = true;
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
        pause = untilElapsed(clock, POLL_MS);
        await pause;
      }
      while (waits) {
        told = false;
        const run = await subscriber.ask(() => registry.find(thread.ref, { runId: from.runId }));
        if (!waits) return;
        if (run === undefined) {
          stop(undefined);
          return subscriber.end("deleted");
        }
        if (run.status !== "queued" && run.status !== "running") return stop(run);
        if (told) continue;
        pause = untilElapsed(clock, POLL_MS);
        await pause;
      }
    };
    // In this order a run that begins in between is told.
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
  tellStart(about, subscriber, from, before, start);
  return subscriber.catchUp({ fold: applyEntry(before, start), seq: start.seq }, from.runId);
}

/** The run's first frame; or, for a subscriber that lacks what the run builds on, R11's prelude in its place. */
function tellStart(
  { face, channel }: JoinRunOptions,
  subscriber: Subscriber,
  { holds, holdsNothing = false }: FromRun,
  before: ThreadFold,
  entry: LogEntry,
): void {
  subscriber.joined("run");
  const { envelope } = entry;
  const lacks =
    holdsNothing || (holds && envelope.type === "run_start" && knowsLess(holds, before, envelope));
  const prelude = lacks ? face.prelude(applyEntry(before, entry), entry) : undefined;
  if (prelude && prelude.length > 0) subscriber.writeOwn(prelude);
  else subscriber.write(channel.encoded(face, before, entry));
}
