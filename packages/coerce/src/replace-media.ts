import { type InlineBytes, type Media, readMedia } from "./media.js";
import { isMessage } from "./message-fields.js";

export interface InlineMedia extends Media {
  readonly source: InlineBytes;
}

const MAX_DEPTH = 64;

/** The part of a state that holds a value: only in a message's content does a block with little evidence count as a file. */
type Within = "state" | "message" | "content";

/**
 * Replaces every block that carries bytes by the result of `replace`; `undefined` retains the block. Copies only the objects
 * on the path to a block, so the value is not mutated, and one without such blocks is returned itself. Objects in `clean`
 * were searched before and have none: objects of a graph are passed on many times.
 */
export function replaceMedia(
  value: unknown,
  replace: (media: InlineMedia, block: object) => unknown,
  clean: WeakSet<object> = new WeakSet(),
): unknown {
  return visit(value, 0, "state");

  function visit(item: unknown, depth: number, within: Within): unknown {
    if (typeof item !== "object" || item === null || depth > MAX_DEPTH || clean.has(item)) return item;
    if (ArrayBuffer.isView(item) || item instanceof Map || item instanceof Set) return item;
    const media = readMedia(item);
    if (media && isInline(media) && (media.certain || within === "content"))
      return replace(media, item) ?? item;
    // Marked before it is entered, so that a cycle ends here.
    clean.add(item);
    const copy = Array.isArray(item) ? visitList(item, depth, within) : visitRecord(item, depth, within);
    if (copy !== item) clean.delete(item);
    return copy;
  }

  function visitList(list: readonly unknown[], depth: number, within: Within): readonly unknown[] {
    let copy: unknown[] | undefined;
    for (let index = 0; index < list.length; index += 1) {
      const before = list[index];
      const after = visit(before, depth + 1, within);
      if (after === before) continue;
      copy ??= [...list];
      copy[index] = after;
    }
    return copy ?? list;
  }

  /** Copies an object with its class: a message must remain one. */
  function visitRecord(record: object, depth: number, within: Within): object {
    let copy: object | undefined;
    const of = within === "state" && isMessage(record) ? "message" : within;
    for (const key of Object.keys(record)) {
      const before: unknown = Reflect.get(record, key);
      const after = visit(before, depth + 1, below(of, key));
      if (after === before) continue;
      copy ??= Object.create(
        Object.getPrototypeOf(record),
        Object.getOwnPropertyDescriptors(record),
      ) as object;
      Object.defineProperty(copy, key, {
        value: after,
        enumerable: true,
        configurable: true,
        writable: true,
      });
    }
    return copy ?? record;
  }
}

/** `lc_kwargs` and `kwargs` hold a message's fields once more, in its live and in its serialised form. */
function below(within: Within, key: string): Within {
  if (within !== "message") return within;
  if (key === "content") return "content";
  return key === "lc_kwargs" || key === "kwargs" ? "message" : "state";
}

function isInline(media: Media): media is InlineMedia {
  return media.source.kind === "inline";
}
