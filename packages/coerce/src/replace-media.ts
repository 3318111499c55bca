import { type InlineBytes, type Media, readMedia } from "./media.js";

export interface InlineMedia extends Media {
  readonly source: InlineBytes;
}

const MAX_DEPTH = 64;

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
  return visit(value, 0);

  function visit(item: unknown, depth: number): unknown {
    if (typeof item !== "object" || item === null || depth > MAX_DEPTH || clean.has(item)) return item;
    if (ArrayBuffer.isView(item) || item instanceof Map || item instanceof Set) return item;
    const media = readMedia(item);
    if (media && isInline(media)) return replace(media, item) ?? item;
    // Marked before it is entered, so that a cycle ends here.
    clean.add(item);
    const copy = Array.isArray(item) ? visitList(item, depth) : visitRecord(item, depth);
    if (copy !== item) clean.delete(item);
    return copy;
  }

  function visitList(list: readonly unknown[], depth: number): readonly unknown[] {
    let copy: unknown[] | undefined;
    for (let index = 0; index < list.length; index += 1) {
      const before = list[index];
      const after = visit(before, depth + 1);
      if (after === before) continue;
      copy ??= [...list];
      copy[index] = after;
    }
    return copy ?? list;
  }

  /** Of the same class: a message must stay one. */
  function visitRecord(record: object, depth: number): object {
    let copy: object | undefined;
    for (const key of Object.keys(record)) {
      const before: unknown = Reflect.get(record, key);
      const after = visit(before, depth + 1);
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

function isInline(media: Media): media is InlineMedia {
  return media.source.kind === "inline";
}
