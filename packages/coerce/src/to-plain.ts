import type { Json, JsonObject } from "@throughline/ai-core";
import { equalsPlain } from "./equals-plain.js";
import { withoutBytes } from "./media-part.js";
import { messageContent, messageFields } from "./message-fields.js";
import { isJsonObject } from "./read.js";

const MAX_DEPTH = 64;
const MAX_BYTES_SHOWN = 4_096;

/**
 * Converts an external value to JSON. Every such value passes it before it can reach an envelope: message objects, Errors,
 * Maps, typed arrays, bigints, cycles, getters that throw, and all that LangGraph will invent next year. Never throws.
 *
 * O(size of the value). The result shares nothing with the value, so what a node mutates later can't change what was
 * logged; it shares all it can with `previous`, our own copy of an earlier state, so an unchanged state costs no memory and
 * is `===` to its previous copy.
 */
export function toPlain(value: unknown, previous?: Json): Json {
  return previous !== undefined && isUnchanged(value, previous) ? previous : coerce(value, previous, [], 0);
}

/**
 * As `toPlain`, for the beginning of a value: strings, lists and records end where about `limit` characters of JSON are spent.
 * O(limit), however large the value is.
 */
export function toPlainWithin(
  value: unknown,
  limit: number,
): { readonly value: Json; readonly isCut: boolean } {
  const budget: Budget = { left: limit, isCut: false };
  const plain = coerce(value, undefined, [], 0, budget);
  return { value: plain, isCut: budget.isCut };
}

/** The number of characters that may still be written. */
interface Budget {
  left: number;
  isCut: boolean;
}

/** As `toPlain`, for a message's content, or a part of it. */
export function contentToPlain(content: unknown): Json {
  return coerce(content, undefined, [CONTENT], 0);
}

/** Marks, as first ancestor, a value that is known to be a message's content. */
const CONTENT: object = Object.freeze({});

/** Whether the value that is described now, the last of its ancestors, is in a message's content. */
function isInContent(ancestors: readonly object[]): boolean {
  if (ancestors[0] === CONTENT) return true;
  return ancestors.some((list, at) => {
    const holder = ancestors[at - 1];
    if (!holder || !Array.isArray(list)) return false;
    return messageContent(holder) === list;
  });
}

/** As `toPlain`, but always an object: other values are put under `value`. */
export function toPlainObject(value: unknown): JsonObject {
  if (value === null || value === undefined) return {};
  const plain = toPlain(value);
  return isJsonObject(plain) ? plain : { value: plain };
}

function isUnchanged(value: unknown, previous: Json): boolean {
  try {
    return equalsPlain(value, previous);
  } catch {
    return false;
  }
}

function coerce(
  value: unknown,
  previous: Json | undefined,
  ancestors: object[],
  depth: number,
  budget?: Budget,
): Json {
  if (budget && typeof value !== "object" && typeof value !== "string") budget.left -= 5;
  switch (typeof value) {
    case "string":
      return budget ? textWithin(value, budget) : value;
    case "boolean":
      return value;
    case "number":
      // JSON knows one zero: -0 must not be another value before it was logged than after.
      return Number.isFinite(value) ? value + 0 : String(value);
    case "bigint":
      return Number.isSafeInteger(Number(value)) ? Number(value) : value.toString();
    case "undefined":
      return null;
    case "function":
      return `[function ${value.name || "anonymous"}]`;
    case "symbol":
      return value.toString();
    case "object":
      return value === null ? null : coerceObject(value, previous, ancestors, depth, budget);
  }
}

function textWithin(text: string, budget: Budget): string {
  const beginning = text.slice(0, Math.max(0, budget.left) + 1);
  const cost = JSON.stringify(beginning).length;
  const left = budget.left;
  budget.left -= cost;
  if (beginning.length === text.length && cost <= left) return text;
  budget.isCut = true;
  return `${beginning.slice(0, Math.max(0, Math.floor((beginning.length * left) / cost) - 3))}…`;
}

/** Whether the next item of a list or record may be written; otherwise the result is marked as cut. */
function mayContinue(budget: Budget | undefined, cost: number): boolean {
  if (!budget) return true;
  budget.left -= cost;
  if (budget.left > 0) return true;
  budget.isCut = true;
  return false;
}

function coerceObject(
  value: object,
  previous: Json | undefined,
  ancestors: object[],
  depth: number,
  budget?: Budget,
): Json {
  if (depth >= MAX_DEPTH) return "[too deep]";
  if (ancestors.includes(value)) return "[circular]";
  ancestors.push(value);
  try {
    return describe(value, previous, ancestors, depth + 1, budget);
  } catch {
    // A proxy whose traps throw, an iterator that fails: only the existence of the value is known.
    return "[unreadable]";
  } finally {
    ancestors.pop();
  }
}

function describe(
  value: object,
  previous: Json | undefined,
  ancestors: object[],
  depth: number,
  budget?: Budget,
): Json {
  if (Array.isArray(value)) return coerceList(value, previous, ancestors, depth, budget);
  if (Object.getPrototypeOf(value) !== Object.prototype) {
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
    if (value instanceof Error) return { name: value.name, message: value.message };
    if (value instanceof Map) return coerceRecord(fromMap(value), previous, ancestors, depth, budget);
    if (value instanceof Set) return coerceList([...value], previous, ancestors, depth, budget);
    if (ArrayBuffer.isView(value)) return coerceView(value);
    if (value instanceof ArrayBuffer) return coerceView(new Uint8Array(value));
    if (value instanceof URL || value instanceof RegExp) return String(value);
  }
  const message = messageFields(value) ?? withoutBytes(value, () => isInContent(ancestors));
  if (message) return coerceRecord(message, previous, ancestors, depth, budget);
  const own = ownForm(value);
  return own === value || own === undefined
    ? coerceRecord(value, previous, ancestors, depth, budget)
    : coerce(own, previous, ancestors, depth, budget);
}

/** The result of a value's `toJSON`; the value itself where it has none or it throws: its properties are read then. */
function ownForm(value: object): unknown {
  try {
    const toJson: unknown = Reflect.get(value, "toJSON");
    return typeof toJson === "function" ? Reflect.apply(toJson, value, []) : value;
  } catch {
    return value;
  }
}

/** Copies on the first difference: a list that equals `previous` costs a traversal and no memory. */
function coerceList(
  items: readonly unknown[],
  previous: Json | undefined,
  ancestors: object[],
  depth: number,
  budget?: Budget,
): Json[] {
  const before = Array.isArray(previous) ? previous : undefined;
  let copy: Json[] | undefined = before ? undefined : [];
  for (let index = 0; index < items.length; index += 1) {
    if (!mayContinue(budget, 1)) break;
    const old = before?.[index];
    const child = coerce(items[index], old, ancestors, depth, budget);
    if (copy) copy.push(child);
    else if (child !== old) copy = [...(before ?? []).slice(0, index), child];
  }
  if (copy) return copy;
  return before?.length === items.length ? before : (before ?? []).slice(0, items.length);
}

function coerceRecord(
  value: object,
  previous: Json | undefined,
  ancestors: object[],
  depth: number,
  budget?: Budget,
): JsonObject {
  const before = isJsonObject(previous) ? previous : undefined;
  let copy: JsonObject | undefined = before ? undefined : {};
  let size = 0;
  for (const key of Object.keys(value)) {
    const item = readSafely(value, key);
    if (isLeftOut(item)) continue;
    if (!mayContinue(budget, key.length + 4)) break;
    const old = before && Object.hasOwn(before, key) ? before[key] : undefined;
    const child = coerce(item, old, ancestors, depth, budget);
    if (!copy && child !== old) copy = sharedPrefix(value, before ?? {}, key);
    if (copy) put(copy, key, child);
    size += 1;
  }
  if (copy) return copy;
  return before && Object.keys(before).length === size
    ? before
    : sharedPrefix(value, before ?? {}, undefined);
}

/** The entries that `value` and `before` share, in the order of `value`, up to a key. */
function sharedPrefix(value: object, before: JsonObject, end: string | undefined): JsonObject {
  const record: JsonObject = {};
  for (const key of Object.keys(value)) {
    if (key === end) break;
    const known = Object.hasOwn(before, key) ? before[key] : undefined;
    if (known !== undefined && !isLeftOut(readSafely(value, key))) put(record, key, known);
  }
  return record;
}

function isLeftOut(item: unknown): boolean {
  return item === undefined || typeof item === "function";
}

/** A key called `__proto__` must become a key, not a prototype. */
function put(record: JsonObject, key: string, value: Json): void {
  if (key === "__proto__")
    Object.defineProperty(record, key, { value, enumerable: true, configurable: true });
  else record[key] = value;
}

function readSafely(value: object, key: string): unknown {
  try {
    return Reflect.get(value, key);
  } catch {
    return undefined;
  }
}

function fromMap(map: ReadonlyMap<unknown, unknown>): object {
  return Object.fromEntries(
    Array.from(map, ([key, value]) => [typeof key === "string" ? key : JSON.stringify(toPlain(key)), value]),
  );
}

function coerceView(view: ArrayBufferView): Json {
  if (view instanceof Uint8Array || view instanceof DataView) {
    const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
    const text = new TextDecoder().decode(bytes.subarray(0, MAX_BYTES_SHOWN));
    return { type: "bytes", length: bytes.length, text };
  }
  return Array.from(view as unknown as Iterable<number | bigint>, (item) => toPlain(item));
}
