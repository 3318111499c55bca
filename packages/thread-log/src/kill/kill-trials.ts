import type { ChildProcess } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import type { LogEntry } from "@throughline/ai-core";
import { expect } from "vitest";
import type { ChildProgram } from "../../../embedded-postgres/src/testing/child-program.js";
import { fenceOf, newThread, notes, textOf } from "../conformance/log-scene.js";
import type { TailEvent } from "../log/thread-log.js";
import type { ThreadRef } from "../thread-ref.js";
import type { WriterMessage, WriterTask } from "./append-until-killed.js";
import type { SeededRandom } from "./seeded-random.js";
import type { TrialLog, TrialStore } from "./trial-log.js";

export interface TrialSetting {
  readonly store: TrialStore;
  readonly writer: ChildProgram;
  readonly random: SeededRandom;
  /** The test's own instance, which lives through all trials. */
  readonly observer: TrialLog;
  /** Kills the database and starts it again. */
  readonly killDatabase: () => Promise<void>;
}

export interface Acked {
  readonly epoch: string;
  readonly seq: number;
  readonly text: string;
}

export interface TrialOutcome {
  readonly thread: ThreadRef;
  readonly acked: readonly Acked[];
  /** What a tail from the beginning was told, up to its end or to the end of the log. */
  readonly watched: readonly TailEvent[];
}

const MOST_ACKS_BEFORE = 40;
const LATEST_MOMENT_MS = 30;

/** Kills the writer at a random moment. */
export async function killWriter(setting: TrialSetting): Promise<TrialOutcome> {
  return trial(setting, async (writer, { moment }) => {
    await moment();
    await writer.kill();
  });
}

/** Kills the database at a random moment under a writer that lives on, and lets the writer go on. */
export async function killDatabase(setting: TrialSetting): Promise<TrialOutcome> {
  return trial(setting, async (writer, { moment }) => {
    await moment();
    await setting.killDatabase();
    await writer.acks(2);
    await writer.kill();
  });
}

/** Takes the thread over at a random moment from a writer that does not know it. */
export async function overtakeWriter(setting: TrialSetting): Promise<TrialOutcome> {
  return trial(setting, async (writer, { moment, thread }) => {
    const { log } = setting.observer;
    await moment();
    const opened = await log.open(thread, fenceOf(thread, 2));
    if (!opened.ok) throw new Error(`The heir was refused: ${opened.reason}.`);
    const heir = await log.append(thread, notes(thread, "heir"), fenceOf(thread, 2));
    expect(heir).toMatchObject({ ok: true, first: opened.head.seq + 1 });
    expect(await writer.refusal()).toBe("fenced");
    expect(await log.head(thread)).toEqual({ epoch: opened.head.epoch, seq: opened.head.seq + 1 });
  });
}

interface Moment {
  readonly thread: ThreadRef;
  moment(): Promise<void>;
}

async function trial(
  { store, writer: program, random, observer }: TrialSetting,
  act: (writer: Writer, moment: Moment) => Promise<void>,
): Promise<TrialOutcome> {
  const thread = newThread();
  const watcher = watch(observer, thread);
  const writer = startWriter(program, { store, thread, token: 1 });
  try {
    await act(writer, {
      thread,
      moment: async () => {
        await writer.acks(1 + random.below(MOST_ACKS_BEFORE));
        await delay(random.below(LATEST_MOMENT_MS));
      },
    });
  } finally {
    await writer.kill();
  }
  return { thread, acked: writer.acked(), watched: await watcher.finish() };
}

interface Writer {
  acked(): readonly Acked[];
  /** That many more appends are acknowledged. */
  acks(count: number): Promise<void>;
  refusal(): Promise<string>;
  kill(): Promise<void>;
}

function startWriter(program: ChildProgram, task: WriterTask): Writer {
  const child = program.start([]);
  const acked: Acked[] = [];
  let appends = 0;
  let ended: Exclude<WriterMessage, { kind: "acked" }> | undefined;
  const listeners = new Set<() => void>();
  child.on("message", (message: WriterMessage) => {
    if (message.kind === "acked") {
      appends++;
      for (const [index, text] of message.texts.entries()) {
        acked.push({ epoch: message.epoch, seq: message.first + index, text });
      }
    } else ended = message;
    for (const listener of listeners) listener();
  });
  const gone = untilDrained(child);
  child.send(task);

  function until(condition: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = () => {
        if (!condition() && ended === undefined) return;
        listeners.delete(look);
        if (condition()) resolve();
        else reject(new Error(`The writer ended: ${JSON.stringify(ended)}.`));
      };
      listeners.add(look);
      look();
    });
  }

  return {
    acked: () => acked,
    acks: (count) => {
      const enough = appends + count;
      return until(() => appends >= enough);
    },
    refusal: async () => {
      await until(() => ended !== undefined);
      return ended?.kind === "refused" ? ended.reason : JSON.stringify(ended);
    },
    kill: async () => {
      child.kill("SIGKILL");
      await gone;
    },
  };
}

/** What a process said before it was killed is still in the pipe when it is gone. */
async function untilDrained(child: ChildProcess): Promise<void> {
  await Promise.all([
    new Promise((resolve) => child.once("exit", resolve)),
    new Promise((resolve) => child.once("disconnect", resolve)),
  ]);
}

function watch({ log }: TrialLog, thread: ThreadRef) {
  const stop = new AbortController();
  const events: TailEvent[] = [];
  let last: LogEntry | undefined;
  let isOver = false;
  const reading = (async () => {
    for await (const event of log.tail(thread, undefined, { signal: stop.signal })) {
      events.push(event);
      if (event.kind === "entries") last = event.entries.at(-1) ?? last;
    }
    isOver = true;
  })();
  return {
    finish: async (): Promise<readonly TailEvent[]> => {
      const head = await log.head(thread);
      const caughtUp = () => isOver || (last?.epoch === head?.epoch && (last?.seq ?? 0) >= (head?.seq ?? 0));
      await expect.poll(caughtUp, { timeout: 30_000, interval: 5 }).toBe(true);
      stop.abort();
      await reading;
      return events;
    },
  };
}

async function readEntries({ log }: TrialLog, thread: ThreadRef): Promise<readonly LogEntry[]> {
  const entries: LogEntry[] = [];
  for (;;) {
    const answer = await log.read(thread, entries.at(-1), 1_000);
    if (answer.kind !== "entries") throw new Error(`Expected entries, got ${JSON.stringify(answer)}`);
    if (answer.entries.length === 0) return entries;
    entries.push(...answer.entries);
  }
}

/** Every acknowledged entry is there, once, in its place; what was not acknowledged is there as a whole or not at all. */
export async function expectNothingLost(
  observer: TrialLog,
  { thread, acked, watched }: TrialOutcome,
): Promise<void> {
  const entries = await readEntries(observer, thread);
  expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, index) => index + 1));
  const written = entries.map(textOf).filter((text) => text !== "heir");
  expect(written).toEqual(written.map((_, index) => String(index)));
  for (const { epoch, seq, text } of acked) {
    const entry = entries[seq - 1];
    expect({ epoch: entry?.epoch, text: entry && textOf(entry) }).toEqual({ epoch, text });
  }
  const seen = watched.flatMap((event): readonly unknown[] =>
    event.kind === "entries" ? event.entries : [event],
  );
  // A commit that a killed writer had sent may be carried out after the watcher has left.
  expect(seen).toEqual(entries.slice(0, seen.length));
  expect(seen.length).toBeGreaterThanOrEqual(acked.length);
}
