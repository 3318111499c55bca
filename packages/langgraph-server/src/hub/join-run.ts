import type { Clock, LogEntry, LogPosition } from "@throughline/ai-core";
import { applyEntry, type ThreadFold } from "@throughline/stream-adapter";
import type { RunRecord, RunRegistry } from "@throughline/thread-log";
import { readRun } from "../drive/read-run.js";
import { untilElapsed } from "../drive/until-elapsed.js";
import { joinAfterGap } from "./join-thread.js";
import { knowsLess } from "./knows-less.js";
import { neverRanFrames } from "./never-ran.js";
import type { WatchFrom } from "./thread-hub.js";
import type { WatcherLine, WatcherLineOptions } from "./watcher-line.js";

export interface JoinRunOptions extends WatcherLineOptions {
  readonly registry: Pick<RunRegistry, "find" | "onStop">;
  readonly clock: Clock;
}

type FromRun = Extract<WatchFrom, { kind: "run" }>;

/** A run that waits may be cancelled, of which the log tells nothing; a stop is told, and might be missed. */
const LOOK_AGAIN_MS = 2_000;

/** For somebody who asked for a run: from its beginning, which may be past, or yet to come. */
export async function joinRun(about: JoinRunOptions, line: WatcherLine, from: FromRun): Promise<void> {
  const { channel } = about;
  const start = channel.recent.find(
    ({ envelope }) => envelope.type === "run_start" && envelope.run_id === from.runId,
  );
  if (start) return replay(about, line, from, start);
  const position = channel.position();
  if (channel.fold().run?.run_id === from.runId && position) return find(about, line, from, position);
  const ended = await waitForRun(about, line, from);
  if (ended === undefined || line.isGone()) return;
  const end = await about.log.terminal(about.thread.ref, from.runId);
  if (line.isGone()) return;
  if (end) return find(about, line, from, end);
  line.joined("run");
  line.writeOwn(neverRanFrames(about.face, channel.fold(), ended, about.clock.now()));
  line.end("done");
}

/** Resolves with the run once it has ended unseen; `undefined` when it began, and is told live, or nobody waits any more. */
function waitForRun(about: JoinRunOptions, line: WatcherLine, from: FromRun): Promise<RunRecord | undefined> {
  const { channel, registry, thread, clock } = about;
  return new Promise((resolve, reject) => {
    let pause: ReturnType<typeof untilElapsed> | undefined;
    let waits = true;
    const waiter = {
      runId: from.runId,
      begin(before: ThreadFold, entry: LogEntry) {
        stop(undefined);
        tellStart(about, line, from, before, entry);
        line.goLive();
      },
      end: line.end,
    };
    let told = false;
    const forgetStops = registry.onStop((runId) => {
      if (runId !== from.runId) return;
      told = true;
      pause?.cancel();
    });
    const stop = (run: RunRecord | undefined) => {
      waits = false;
      forgetStops();
      pause?.cancel();
      channel.forget(waiter);
      resolve(run);
    };
    const look = async () => {
      while (waits) {
        told = false;
        const run = await registry.find(thread.ref, { runId: from.runId });
        if (!waits) return;
        if (run === undefined) {
          stop(undefined);
          return line.end("deleted");
        }
        if (run.status !== "queued" && run.status !== "running") return stop(run);
        if (told) continue;
        pause = untilElapsed(clock, LOOK_AGAIN_MS);
        await pause;
      }
    };
    // First the one, then the other: a run that begins in between is told.
    channel.waitFor(waiter);
    line.onGone(() => stop(undefined));
    look().catch(reject);
  });
}

async function find(
  about: JoinRunOptions,
  line: WatcherLine,
  from: FromRun,
  until: LogPosition,
): Promise<void> {
  const [start] = await readRun(about.log, about.thread.ref, from.runId, until);
  if (line.isGone()) return;
  return start?.envelope.type === "run_start" ? replay(about, line, from, start) : joinAfterGap(about, line);
}

async function replay(
  about: JoinRunOptions,
  line: WatcherLine,
  from: FromRun,
  start: LogEntry,
): Promise<void> {
  const before = await line.foldAt({ epoch: start.epoch, seq: start.seq - 1 });
  if (line.isGone()) return;
  if (before === undefined) return joinAfterGap(about, line);
  tellStart(about, line, from, before, start);
  return line.catchUp({ fold: applyEntry(before, start), seq: start.seq }, from.runId);
}

/** The run's first frame; or, for somebody who lacks what the run builds on, R11's prelude in its place. */
function tellStart(
  { face, channel }: JoinRunOptions,
  line: WatcherLine,
  { holds }: FromRun,
  before: ThreadFold,
  entry: LogEntry,
): void {
  line.joined("run");
  const { envelope } = entry;
  const lacks = holds && envelope.type === "run_start" && knowsLess(holds, before, envelope);
  const prelude = lacks ? face.prelude(applyEntry(before, entry), entry) : undefined;
  if (prelude && prelude.length > 0) line.writeOwn(prelude);
  else line.write(channel.encoded(face, before, entry));
}
