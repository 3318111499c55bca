import { randomBytes } from "node:crypto";
import type { NewEntry, StoreAppend, StoredEntry } from "../../log/log-store.js";
import { threadKey } from "../../thread-ref.js";

/** Joins what is stored in pieces. JSON never holds it unescaped. */
export const UNIT_SEPARATOR = "\u001f";

/** An envelope's text, cut where its neighbours differ: the parts lie before, between and behind the holes. */
export interface CutEnvelope {
  readonly parts: readonly string[];
  readonly holes: readonly string[];
}

const OWN_HOLES = new Set(["ts", "seq"]);
/** Keys of a payload whose text neighbours share. */
const SHARED_KEY = /(?:^|_)id$|^(?:name|kind|role|type)$/;

const QUOTE = 34;
const COMMA = 44;
const BACKSLASH = 92;
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [91, 93, 123, 125] as const;

/**
 * Cuts by the text alone, so that the pieces always join to the same text again. Holes are `ts`, `seq` and, of the payload's own
 * values, the numbers and what is neither an id nor a name. Expects what `JSON.stringify` writes: no white space. O(length).
 */
export function splitByTemplate(text: string): CutEnvelope {
  const parts: string[] = [];
  const holes: string[] = [];
  let from = 0;
  const cut = (start: number, end: number) => {
    parts.push(text.slice(from, start));
    holes.push(text.slice(start, end));
    from = end;
  };
  eachMember(text, 0, (key, start) => {
    if (key === "payload" && text.charCodeAt(start) === OPEN_OBJECT) {
      return eachMember(text, start, (inner, innerStart) => {
        const end = skipValue(text, innerStart);
        if (isPayloadHole(inner, text.charCodeAt(innerStart))) cut(innerStart, end);
        return end;
      });
    }
    const end = skipValue(text, start);
    if (OWN_HOLES.has(key)) cut(start, end);
    return end;
  });
  parts.push(text.slice(from));
  return { parts, holes };
}

/**
 * The holes of a text between these parts; `undefined` when they are not its parts. Several times as fast as to cut it. The
 * holes may be others than a cut would give, and still join to the same text.
 */
export function fitEnvelope(text: string, parts: readonly string[]): string[] | undefined {
  const first = parts[0] ?? "";
  if (!text.startsWith(first)) return undefined;
  const holes: string[] = [];
  let from = first.length;
  for (let n = 1; n < parts.length; n++) {
    const part = parts[n] ?? "";
    const isLast = n === parts.length - 1;
    const at = isLast ? text.length - part.length : text.indexOf(part, from);
    if (at < from || (isLast && !text.endsWith(part))) return undefined;
    holes.push(text.slice(from, at));
    from = at + part.length;
  }
  return from === text.length ? holes : undefined;
}

export function joinEnvelope(parts: readonly string[], holes: readonly string[]): string {
  let text = parts[0] ?? "";
  for (let i = 0; i < holes.length; i++) text += `${holes[i]}${parts[i + 1] ?? ""}`;
  return text;
}

function isPayloadHole(key: string, first: number): boolean {
  const isText = first === QUOTE || first === OPEN_OBJECT || first === OPEN_ARRAY;
  return isText ? !SHARED_KEY.test(key) : first === 45 || (first >= 48 && first <= 57);
}

/** Visits the members of the object that begins at `at`; `visit` gives the end of the value. Gives the end of the object. */
function eachMember(text: string, at: number, visit: (key: string, start: number) => number): number {
  let next = at + 1;
  while (text.charCodeAt(next) === QUOTE) {
    const keyEnd = skipString(text, next);
    const end = visit(text.slice(next + 1, keyEnd - 1), keyEnd + 1);
    if (text.charCodeAt(end) !== COMMA) return end + 1;
    next = end + 1;
  }
  return next + 1;
}

function skipValue(text: string, start: number): number {
  const first = text.charCodeAt(start);
  if (first === QUOTE) return skipString(text, start);
  let at = start;
  let depth = 0;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = skipString(text, at);
      continue;
    }
    if (code === OPEN_OBJECT || code === OPEN_ARRAY) depth += 1;
    else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) {
      if (depth === 0) return at;
      depth -= 1;
      if (depth === 0) return at + 1;
    } else if (code === COMMA && depth === 0) return at;
    at += 1;
  }
  return at;
}

function skipString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return end + 1;
  }
  return text.length;
}

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

/** Envelopes of one form, identified by the text around their holes. The first is written whole: most forms have no second. */
interface Shape {
  readonly parts: readonly string[];
  template: Template | undefined;
  isWritten: boolean;
}

interface Writer {
  readonly token: bigint;
  /** Shapes by the template's parts; oldest first. */
  readonly shapes: Map<string, Shape>;
  /** Shape of the previous entry: the next one nearly always has the same. */
  last: Shape | undefined;
}

/** The longest envelope that is split, in characters. In a longer one the repeated part hardly counts. */
const MAX_TEXT = 2_048;
const MAX_SHAPES = 256;
const MAX_WRITERS = 512;

export function createEntryEncoder(): EntryEncoder {
  /** Writers by thread; oldest first. */
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
  const { parts, holes } = splitByTemplate(text);
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

/** Result of `entryPage`; `null` where there is none. */
export interface EntryPage {
  readonly lines: string | null;
  readonly templates: string | null;
}

const RECORD_SEPARATOR = "\u001e";

export function parseEntryPage({ lines, templates }: EntryPage): StoredEntry[] {
  if (lines === null) return [];
  const parts = new Map<string, readonly string[]>();
  for (const line of templates?.split(RECORD_SEPARATOR) ?? []) {
    const [id = "", ...pieces] = line.split(UNIT_SEPARATOR);
    parts.set(id, pieces);
  }
  return lines.split(RECORD_SEPARATOR).map((line) => {
    const [seq, template = "", ...body] = line.split(UNIT_SEPARATOR);
    const text = template === "" ? (body[0] ?? "") : joinEnvelope(partsOf(parts, template), body);
    return { seq: Number(seq), text };
  });
}

function partsOf(parts: ReadonlyMap<string, readonly string[]>, template: string): readonly string[] {
  const found = parts.get(template);
  if (found === undefined) throw new Error(`Template ${template} of an entry is missing.`);
  return found;
}
/**
 * Two lateral joins that give a page of a thread's entries (`page.lines`) and the templates they use (`used.templates`), each
 * as one text; `t` is the thread's row. Lines are joined by U+001E and their fields by U+001F, neither of which JSON holds
 * unescaped: `seq`, the template's id or nothing, and the entry's body. Rows of a column each would cost several times as much
 * to send and to read, and a template travels once instead of with every entry. Locks nothing.
 */
export function entryPage(schema: string, { where, limit }: { where: string; limit: string }): string {
  return `
left join lateral (
  select
    string_agg(e.seq || chr(31) || coalesce(e.template::text, '') || chr(31) || e.body, chr(30) order by e.seq) as lines,
    array_agg(distinct e.template) filter (where e.template is not null) as templates
  from (
    select seq, template, body from ${schema}.log_entries
    where log_id = t.log_id and seq >= t.floor and ${where}
    order by seq limit ${limit}
  ) e
) page on true
left join lateral (
  select string_agg(p.id || chr(31) || p.parts, chr(30)) as templates from ${schema}.entry_templates p
  where p.log_id = t.log_id and p.id = any(page.templates)
) used on true`;
}

/**
 * Where a reader at `position` has to begin instead: null, unless the position was merged into a later entry by compaction.
 * Then it is the last one before it that was not. One index descent, and only below what was compacted.
 */
export function resumeAt(schema: string, position: string): string {
  return `
case when ${position} >= t.floor and ${position} < t.compacted then (
  select nullif(coalesce(max(e.seq), t.floor - 1), ${position}) from ${schema}.log_entries e
  where e.log_id = t.log_id and e.seq between t.floor and ${position}) end`;
}
