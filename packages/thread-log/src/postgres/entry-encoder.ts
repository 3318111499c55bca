import { randomBytes } from "node:crypto";
import type { NewEntry, StoreAppend } from "../port/log-store.js";
import { threadKey } from "../port/thread-ref.js";
import { cutEnvelope, fitEnvelope, UNIT_SEPARATOR } from "./cut-envelope.js";

/** An entry as it is stored: its whole text, or the holes of a template. */
export interface EncodedEntry {
  readonly body: string;
  readonly template: string | undefined;
}

export interface Template {
  readonly id: string;
  readonly parts: string;
}

export interface EncodedAppend {
  readonly entries: readonly EncodedEntry[];
  /** To be written with them: those they use that are not known to be written. */
  readonly templates: readonly Template[];
}

/**
 * Knows, for the threads that this instance writes, which templates it has written. A template's id is random: two writers
 * never choose the same one, and a writer that was forgotten, or begins after a crash, just makes its own.
 */
export interface EntryEncoder {
  encode(append: StoreAppend): EncodedAppend;
  /** The append's own commit has written its templates. Not to be called for one that was there already. */
  written(append: StoreAppend, encoded: EncodedAppend): void;
  /** The writer has ended, or was refused. */
  forget(append: StoreAppend): void;
}

/** Envelopes of one form, told by the text around their holes. Its first is written whole: most never have a second. */
interface Shape {
  readonly parts: readonly string[];
  template: Template | undefined;
  isWritten: boolean;
}

interface Writer {
  readonly token: bigint;
  /** By the template's parts; oldest first. */
  readonly shapes: Map<string, Shape>;
  /** Of the entry before: the next one is nearly always of the same. */
  last: Shape | undefined;
}

/** In characters. Of a longer one the repeated part hardly counts. */
const MAX_TEXT = 2_048;
const MAX_SHAPES = 256;
const MAX_WRITERS = 512;

export function createEntryEncoder(): EntryEncoder {
  /** By thread; oldest first. */
  const writers = new Map<string, Writer>();

  function writerOf({ thread, token }: StoreAppend): Writer {
    const key = threadKey(thread);
    const known = writers.get(key);
    if (known?.token === token) return known;
    writers.delete(key);
    dropOldest(writers, MAX_WRITERS);
    const writer: Writer = { token, shapes: new Map(), last: undefined };
    writers.set(key, writer);
    return writer;
  }

  return {
    encode(append) {
      const writer = writerOf(append);
      let templates: Map<string, Template> | undefined;
      const entries = append.entries.map((entry) => {
        const { shape, holes } = shapeOf(writer, entry);
        if (shape === undefined) return { body: entry.text, template: undefined };
        shape.template ??= { id: randomId(), parts: shape.parts.join(UNIT_SEPARATOR) };
        const { id } = shape.template;
        if (!shape.isWritten) templates = (templates ?? new Map()).set(id, shape.template);
        return { body: holes.join(UNIT_SEPARATOR), template: id };
      });
      return { entries, templates: templates ? [...templates.values()] : [] };
    },
    written(append, { templates }) {
      if (templates.length === 0) return;
      const writer = writers.get(threadKey(append.thread));
      for (const { id, parts } of templates) {
        const shape = writer?.shapes.get(parts);
        if (shape?.template?.id === id) shape.isWritten = true;
      }
    },
    forget: ({ thread, token }) => {
      const key = threadKey(thread);
      if (writers.get(key)?.token === token) writers.delete(key);
    },
  };
}

const WHOLE = { shape: undefined, holes: [] } as const;

/** The shape of which this is not the first. A terminal stays whole, because it outlives the templates of its run. */
function shapeOf(
  writer: Writer,
  { text, endOfRun }: NewEntry,
): { readonly shape: Shape | undefined; readonly holes: readonly string[] } {
  if (endOfRun !== undefined || text.length > MAX_TEXT) return WHOLE;
  const { last, shapes } = writer;
  const fitting = last && fitEnvelope(text, last.parts);
  if (fitting) return { shape: last, holes: fitting };
  const { parts, holes } = cutEnvelope(text);
  if (holes.length === 0) return WHOLE;
  const key = parts.join(UNIT_SEPARATOR);
  const known = shapes.get(key);
  writer.last = known ?? { parts, template: undefined, isWritten: false };
  if (known) return { shape: known, holes };
  dropOldest(shapes, MAX_SHAPES);
  shapes.set(key, writer.last);
  return WHOLE;
}

function dropOldest(map: Map<string, unknown>, max: number): void {
  if (map.size < max) return;
  const [oldest] = map.keys();
  if (oldest !== undefined) map.delete(oldest);
}

function randomId(): string {
  return randomBytes(8).readBigInt64BE().toString();
}
