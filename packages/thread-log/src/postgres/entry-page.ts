import type { StoredEntry } from "../port/log-store.js";
import { joinEnvelope, UNIT_SEPARATOR } from "./cut-envelope.js";

/** Of `entryPage`; `null` where there is none. */
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
