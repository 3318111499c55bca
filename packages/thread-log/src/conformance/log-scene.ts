import { randomUUID } from "node:crypto";
import type { Envelope, Fence, LogEntry, ProjectionCodec } from "@throughline/ai-core";
import { createThreadLog, type ThreadLogOptions } from "../log/create-thread-log.js";
import type { LogStore } from "../log/log-store.js";
import type { TailEvent, ThreadLog } from "../log/thread-log.js";
import type { ThreadRef } from "../thread-ref.js";

/** What a store gives to be tested: any number of instances on one database. */
export interface LogStoreFixture {
  /** One instance's view of the database. */
  openStore(): Promise<LogStore>;
  /** Ends what `openStore` gave, as a shutdown would; the data stays. */
  closeStore(store: LogStore): Promise<void>;
  /** Breaks every connection, as a restart of the database would. */
  interrupt?(): Promise<void>;
  /** Ends what is left. */
  close(): Promise<void>;
}

/** What a case works with. Threads are new in each, so that cases can share a database. */
export interface LogScene {
  readonly thread: ThreadRef;
  readonly log: ThreadLog;
  readonly store: LogStore;
  /** Another instance on the same database. */
  another(options?: Partial<ThreadLogOptions<string[]>>): Promise<ThreadLog>;
  /** A log over a store of the case's making, which ends with the case. */
  over(store: LogStore): ThreadLog;
}

export interface LogCase {
  readonly name: string;
  run(scene: LogScene): Promise<void>;
}

export async function withScene(fixture: LogStoreFixture, run: LogCase["run"]): Promise<void> {
  const stores: LogStore[] = [];
  const logs: ThreadLog[] = [];
  const open = async (options: Partial<ThreadLogOptions<string[]>> = {}) => {
    const store = await fixture.openStore();
    stores.push(store);
    const log = createThreadLog({ store, ...options });
    logs.push(log);
    return { store, log };
  };
  const { store, log } = await open();
  try {
    await run({
      thread: newThread(),
      log,
      store,
      another: async (options) => (await open(options)).log,
      over: (given) => {
        const over = createThreadLog({ store: given });
        logs.push(over);
        return over;
      },
    });
  } finally {
    await Promise.all(logs.map((each) => each.close()));
    await Promise.all(stores.map((each) => fixture.closeStore(each)));
  }
}

export function newThread(account = `acct-${randomUUID()}`, subject?: string): ThreadRef {
  return { account, ...(subject === undefined ? {} : { subject }), threadId: randomUUID() };
}

export function fenceOf(thread: ThreadRef, token: number | bigint): Fence {
  return { threadId: thread.threadId, runId: `run-${token}`, token: BigInt(token) };
}

/** An entry that can be told from every other by its text. */
export function note(thread: ThreadRef, text: string): Envelope {
  return { ...base(thread, "run-1"), type: "custom", payload: { name: "note", value: text } };
}

export function notes(thread: ThreadRef, ...texts: readonly string[]): Envelope[] {
  return texts.map((text) => note(thread, text));
}

export function runEnd(thread: ThreadRef, runId: string): Envelope {
  return { ...base(thread, runId), type: "run_end", payload: { status: "success" } };
}

function base(thread: ThreadRef, runId: string) {
  return {
    ts: 0,
    trace_id: "trace",
    run_id: runId,
    thread_id: thread.threadId,
    attempt: 0,
    parent_id: null,
    call_id: runId,
    seq: 1,
    origin: "live",
    agent: "",
  } as const;
}

export function textOf({ envelope }: LogEntry): string {
  if (envelope.type === "custom" && typeof envelope.payload.value === "string") return envelope.payload.value;
  return envelope.type;
}

export function textsOf(entries: readonly LogEntry[]): string[] {
  return entries.map(textOf);
}

/** Opens the thread under a token and appends one note per text. */
export async function write(
  log: ThreadLog,
  thread: ThreadRef,
  texts: readonly string[],
  token: number | bigint = 1,
): Promise<void> {
  const fence = fenceOf(thread, token);
  const opened = await log.open(thread, fence);
  if (!opened.ok) throw new Error(`open was refused: ${opened.reason}`);
  if (texts.length === 0) return;
  const appended = await log.append(thread, notes(thread, ...texts), fence);
  if (!appended.ok) throw new Error(`append was refused: ${appended.reason}`);
}

export async function nextEvent(tail: AsyncIterator<TailEvent>): Promise<TailEvent | undefined> {
  const { done, value } = await tail.next();
  return done ? undefined : value;
}

/** The next `count` entries of a tail; anything but entries is a failure. */
export async function take(tail: AsyncIterator<TailEvent>, count: number): Promise<LogEntry[]> {
  const entries: LogEntry[] = [];
  while (entries.length < count) {
    const event = await nextEvent(tail);
    if (event?.kind !== "entries") throw new Error(`expected entries, got ${JSON.stringify(event)}`);
    entries.push(...event.entries);
  }
  return entries;
}

export async function readAll(log: ThreadLog, thread: ThreadRef): Promise<string[]> {
  const texts: string[] = [];
  let after: LogEntry | undefined;
  for (;;) {
    const answer = await log.read(thread, after, 100);
    if (answer.kind !== "entries") throw new Error(`expected entries, got ${JSON.stringify(answer)}`);
    texts.push(...textsOf(answer.entries));
    after = answer.entries.at(-1);
    if (after === undefined || after.seq === answer.head?.seq) return texts;
  }
}

/** Folds to the texts it has seen, so that what is lost or doubled shows. */
export const textFold: ProjectionCodec<string[]> = {
  version: 7,
  reads: [7],
  empty: [],
  apply: (state, entries) => [...state, ...textsOf(entries)],
  encode: (state) => state,
  decode: (snapshot, version) =>
    version === 7 && Array.isArray(snapshot) ? snapshot.map(String) : undefined,
};
