import { statusAfter } from "../directory/thread-directory.js";
import type { StoreAppend, StoreAppendResult } from "../port/log-store.js";
import { subjectKey } from "../port/thread-ref.js";
import type { EncodedAppend } from "./entry-encoder.js";
import { openInterrupts } from "./finish-runs.js";

export interface AppendedRow {
  readonly ord: string | number;
  readonly epoch: string;
  readonly head: string;
  readonly floor: string;
  readonly held_bytes: string;
  readonly snapshot_seq: string;
  readonly unfolded_bytes: string;
}

export interface RefusalRow extends AppendedRow {
  readonly verdict: "deleted" | "fenced" | "again";
}

const SEPARATOR = "\u001e";

/** Of every append. */
export function appendValues(batch: readonly StoreAppend[], encoded: readonly EncodedAppend[]): unknown[] {
  const owner: number[] = [];
  const place: number[] = [];
  const bodies: string[] = [];
  const endOfRun: string[] = [];
  const bytes: number[] = [];
  const templates: string[] = [];
  const counts: number[] = [];
  const sums: number[] = [];
  let hasTerminal = false;
  let hasTemplate = false;
  for (const [index, { entries }] of batch.entries()) {
    const stored = encoded[index]?.entries ?? [];
    let sum = 0;
    for (const [n, entry] of entries.entries()) {
      const own = stored[n];
      owner.push(index + 1);
      place.push(n + 1);
      bodies.push(own?.body ?? entry.text);
      endOfRun.push(entry.endOfRun ?? "");
      // Of the whole envelope: bounds in bytes mean what readers get, however it is stored.
      bytes.push(entry.bytes);
      templates.push(own?.template ?? "null");
      sum += entry.bytes;
      hasTerminal ||= entry.endOfRun !== undefined;
      hasTemplate ||= own?.template !== undefined;
    }
    counts.push(entries.length);
    sums.push(sum);
  }
  return [
    ...keysOf(batch),
    numbers(counts),
    numbers(sums),
    numbers(owner),
    numbers(place),
    bodies.join(SEPARATOR),
    hasTerminal ? endOfRun.join(SEPARATOR) : null,
    numbers(bytes),
    hasTemplate ? numbers(templates) : null,
  ];
}

/** What one takes after them that may write templates. */
export function templateValues(encoded: readonly EncodedAppend[]): readonly (string | null)[] {
  const all = encoded.flatMap(({ templates }, index) =>
    templates.map((template) => ({ ord: index + 1, ...template })),
  );
  if (all.length === 0) return [null, null, null];
  return [
    numbers(all.map(({ ord }) => ord)),
    numbers(all.map(({ id }) => id)),
    all.map(({ parts }) => parts).join(SEPARATOR),
  ];
}

/** What `appendAndFinishStatement` takes after these; an append that finishes nothing has no run. */
export function finishValues(batch: readonly StoreAppend[]): unknown[] {
  const finishes = batch.map(({ finish }) => finish);
  const [ords, ids] = openInterrupts(finishes);
  return [
    finishes.map((finish) => finish?.runId ?? null),
    finishes.map((finish) => finish?.status ?? null),
    finishes.map((finish) => (finish ? statusAfter(finish) : null)),
    finishes.map((finish) => finish?.upstreamRunId ?? null),
    ords,
    ids,
  ];
}

export function keysOf(batch: readonly StoreAppend[]): string[] {
  return [
    texts(batch.map(({ thread }) => thread.account)),
    texts(batch.map(({ thread }) => subjectKey(thread))),
    texts(batch.map(({ thread }) => thread.threadId)),
    numbers(batch.map(({ token }) => token)),
    texts(batch.map(({ appendId }) => appendId)),
  ];
}

/** Arrays as PostgreSQL writes them: `pg` looks at each element's type first, which costs more than the statement's parse. */
function numbers(values: readonly (number | bigint | string)[]): string {
  return `{${values.join(",")}}`;
}

function texts(values: readonly string[]): string {
  return `{${values.map(quoted).join(",")}}`;
}

/** Looks before it replaces: ids hardly ever hold what must be escaped. */
function quoted(value: string): string {
  const isPlain = !value.includes('"') && !value.includes("\\");
  return isPlain ? `"${value}"` : `"${value.replace(/["\\]/g, "\\$&")}"`;
}

/** By place in the batch. */
export function parseMoved(moved: string | null): readonly (AppendedRow | undefined)[] {
  const rows: AppendedRow[] = [];
  for (const line of moved?.split(",") ?? []) {
    const [
      ord = "",
      epoch = "",
      head = "",
      floor = "",
      held_bytes = "",
      snapshot_seq = "",
      unfolded_bytes = "",
    ] = line.split(" ");
    rows[Number(ord) - 1] = { ord, epoch, head, floor, held_bytes, snapshot_seq, unfolded_bytes };
  }
  return rows;
}

export function taken(append: StoreAppend, row: AppendedRow): StoreAppendResult {
  const last = Number(row.head);
  return {
    ok: true,
    epoch: row.epoch,
    first: last - append.entries.length + 1,
    last,
    unfolded: { entries: last - Number(row.snapshot_seq), bytes: Number(row.unfolded_bytes) },
    held: { entries: last - Number(row.floor) + 1, bytes: Number(row.held_bytes) },
  };
}

/** A thread without a row was never opened, or is long gone: an append does not bring it back. */
export function notTaken(append: StoreAppend, row: RefusalRow | undefined): StoreAppendResult {
  if (row?.verdict === "again") return taken(append, row);
  return { ok: false, reason: row?.verdict ?? "deleted" };
}
