import { type InlineBytes, type Media, readMedia } from "./media.js";
import { isMessage } from "./message-fields.js";

export interface InlineMedia extends Media {
  readonly source: InlineBytes;
}

const MAX_DEPTH = 64;

/** What a value is part of: in a message's content alone, a block is taken for a file where little speaks for it. */
type Within = "state" | "message" | "content";

/**
 * A value with every block that carries bytes replaced by what `replace` gives for it, the block itself where it gives
 * `undefined`. Copies what lies on the way to one and nothing else, so the value stays as it is, and one without such blocks
 * is given back. What is in `clean` was looked at before and had none: objects of a graph are passed on many times.
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

  /** Of the same class: a message must stay one. */
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
