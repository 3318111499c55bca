import type { MemoryDatabase } from "../../memory/database.js";
import { threadKey } from "../../thread-ref.js";

/** What was known before a round: tokens and epochs that are new have no value that two databases could agree on. */
export interface Known {
  readonly lastToken: bigint;
  readonly epochs: ReadonlySet<string>;
}

export function knownIn(database: MemoryDatabase): Known {
  return {
    lastToken: database.lastToken,
    epochs: new Set([...database.threads.values()].map(({ epoch }) => epoch)),
  };
}

const TIMES = new Set([
  "createdAt",
  "updatedAt",
  "endedAt",
  "leaseUntil",
  "lastActivityAt",
  "expiresAt",
  "at",
]);
/** Sets, and what a store may give in an order of its own. */
const UNORDERED = new Set(["interruptIds", "interrupts", "lost", "stopping", "claimed"]);

/** An answer without what differs from store to store: times, revisions, the value of new tokens and epochs. */
export function normalAnswer(answer: unknown, known: Known): unknown {
  return normal(answer, "", known);
}

function normal(value: unknown, key: string, known: Known): unknown {
  if (typeof value === "bigint") return value > known.lastToken ? "a new token" : `token ${value}`;
  if (TIMES.has(key)) return value === Number.NEGATIVE_INFINITY ? "long ago" : "a time";
  if (key === "epoch" && typeof value === "string") return known.epochs.has(value) ? value : "a new epoch";
  if (Array.isArray(value)) {
    const items = value.map((item) => normal(item, "", known));
    return UNORDERED.has(key) ? items.sort(byJson) : items;
  }
  if (typeof value !== "object" || value === null) return value;
  if ("seq" in value && "text" in value && typeof value.text === "string")
    return `${value.seq}: ${shortly(value.text)}`;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, part]) => part !== undefined && name !== "revision")
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, part]) => [name, normal(part, name, known)]),
  );
}

/** What tells an envelope of the model from the others. */
function shortly(text: string): string {
  // Written by the model.
  const { type, run_id, payload } = JSON.parse(text) as {
    type: string;
    run_id: string;
    payload: { value?: string };
  };
  return payload.value ?? `${type} ${run_id}`;
}

function byJson(a: unknown, b: unknown): number {
  const [left = "", right = ""] = [JSON.stringify(a), JSON.stringify(b)];
  return left === right ? 0 : left < right ? -1 : 1;
}

/** Everything a database holds, by thread. New tokens become their rank in the thread: they only ever grow. */
export function normalDatabase(database: MemoryDatabase, known: Known): unknown {
  const now = database.clock.now();
  const threads: Record<string, unknown> = {};
  for (const key of keysOf(database)) {
    const row = database.threads.get(key);
    const runs = [...database.runs.values()].filter(({ thread }) => threadKey(thread) === key);
    const listing = database.listings.get(key);
    const interrupts = [...(database.interrupts.get(key)?.values() ?? [])];
    const stops = [...database.stops].filter(
      ([stop, until]) => stop.startsWith(`${key}\u0000`) && until > now,
    );
    const isTouched = row !== undefined && row.fence > 0n;
    if (!isTouched && !listing && runs.length + interrupts.length + stops.length === 0) continue;
    const tokens = [row?.fence, listing?.token, ...runs.flatMap((run) => [run.token, run.presumedDead])];
    const fresh = [...new Set(tokens)]
      .filter((token) => token !== undefined)
      .filter((token) => token > known.lastToken)
      .sort((a, b) => (a < b ? -1 : 1));
    const tokenOf = (token: bigint | undefined) => {
      if (token === undefined) return undefined;
      return fresh.includes(token) ? `new token ${fresh.indexOf(token)}` : `token ${token}`;
    };
    const { createdAt: _, updatedAt: __, revision: ___, thread: ____, ...log } = row ?? {};
    const rest = {
      log: isTouched && {
        ...log,
        fence: tokenOf(row.fence),
        entries: row.entries.map(
          ({ seq, bytes, endOfRun, text }) => `${seq}: ${shortly(text)}, ${bytes} bytes, end of ${endOfRun}`,
        ),
        snapshots: [...row.snapshots.entries()]
          .filter(([, snapshots]) => snapshots.length > 0)
          .map(([version, snapshots]) => [
            version,
            snapshots.map(({ position, state }) => [position.seq, state]),
          ])
          .sort(byJson),
      },
      runs: runs.map((run) => ({
        ...run,
        lease: leaseOf(run.leaseUntil, now),
        token: tokenOf(run.token),
        presumedDead: tokenOf(run.presumedDead),
      })),
      listing: listing && { ...listing, token: tokenOf(listing.token) },
      interrupts,
      stops: stops.map(([stop]) => stop).sort(),
    };
    threads[key] = normal(rest, "", known);
  }
  return { threads, closures: normal(Object.fromEntries(database.closures), "", known) };
}

/** What can be told of a lease in two databases with two clocks, and decides what becomes of its run. */
function leaseOf(until: number | undefined, now: number): string | undefined {
  if (until === undefined) return undefined;
  if (until === Number.NEGATIVE_INFINITY) return "given up";
  return until < now ? "over" : "held";
}

function keysOf(database: MemoryDatabase): readonly string[] {
  const keys = new Set([
    ...database.threads.keys(),
    ...database.listings.keys(),
    ...[...database.runs.values()].map(({ thread }) => threadKey(thread)),
  ]);
  return [...keys].sort();
}

/** A database of the same content, which can be changed alone. Entries, snapshots and threads are never changed in place. */
export function cloneDatabase(database: MemoryDatabase): MemoryDatabase {
  const cloneAll = <T extends object>(map: ReadonlyMap<string, T>) =>
    new Map([...map].map(([key, value]) => [key, { ...value }] as const));
  return {
    clock: database.clock,
    threads: new Map(
      [...database.threads].map(([key, row]) => [
        key,
        { ...row, entries: [...row.entries], snapshots: new Map(row.snapshots) },
      ]),
    ),
    runs: cloneAll(database.runs),
    interrupts: new Map([...database.interrupts].map(([key, known]) => [key, cloneAll(known)])),
    stops: new Map(database.stops),
    listings: cloneAll(database.listings),
    closures: new Map(database.closures),
    wakeListeners: new Map(),
    stopListeners: new Set(),
    releaseListeners: new Set(),
    lastToken: database.lastToken,
  };
}
