import { describe, expect, it } from "vitest";
import { newThread, note, runEnd } from "../../conformance/log-scene.js";
import { encodeEnvelope } from "../../log/entries.js";
import type { StoreAppend } from "../../log/log-store.js";
import {
  createEntryEncoder,
  type EncodedAppend,
  type EntryEncoder,
  joinEnvelope,
  UNIT_SEPARATOR,
} from "./entry-templates.js";

const thread = newThread();

function appendOf(texts: readonly string[], token = 1n): StoreAppend {
  return { thread, token, appendId: "id", entries: texts.map((text) => encodeEnvelope(note(thread, text))) };
}

/** Encodes, and counts it as committed. */
function commit(encoder: EntryEncoder, append: StoreAppend): EncodedAppend {
  const encoded = encoder.encode(append);
  encoder.written(append, encoded);
  return encoded;
}

describe("The encoder of entries", () => {
  it("writes the first of a shape whole, with the second its template, and then only what differs", () => {
    const encoder = createEntryEncoder();
    const first = appendOf(["a"]);
    expect(commit(encoder, first)).toEqual({
      entries: [{ body: first.entries[0]?.text, template: undefined }],
      templates: [],
    });
    const second = appendOf(["b", "c"]);
    const { entries, templates } = commit(encoder, second);
    const [template] = templates;
    if (!template) return expect.unreachable();
    expect(templates).toHaveLength(1);
    const texts = entries.map(({ body, template: id }) => {
      expect(id).toBe(template.id);
      return joinEnvelope(template.parts.split(UNIT_SEPARATOR), body.split(UNIT_SEPARATOR));
    });
    expect(texts).toEqual(second.entries.map(({ text }) => text));
    const third = commit(encoder, appendOf(["d"]));
    expect(third).toEqual({
      entries: [{ body: `0${UNIT_SEPARATOR}1${UNIT_SEPARATOR}"d"`, template: template.id }],
      templates: [],
    });
  });

  it("sends a template again until a commit of its own is known to have written it", () => {
    const encoder = createEntryEncoder();
    const append = appendOf(["a", "b"]);
    const lost = encoder.encode(append);
    expect(lost.templates).toHaveLength(1);
    expect(encoder.encode(append).templates).toEqual(lost.templates);
    commit(encoder, append);
    expect(encoder.encode(append).templates).toEqual([]);
  });

  it("begins anew under another token, and after its writer was refused or has ended", () => {
    const encoder = createEntryEncoder();
    const before = commit(encoder, appendOf(["a", "b"])).templates;
    const under2 = commit(encoder, appendOf(["a", "b"], 2n)).templates;
    encoder.forget(appendOf([], 1n));
    expect(commit(encoder, appendOf(["c"], 2n)).templates).toEqual([]);
    encoder.forget(appendOf([], 2n));
    const again = commit(encoder, appendOf(["a", "b"], 2n)).templates;
    expect(new Set([...before, ...under2, ...again].map(({ id }) => id)).size).toBe(3);
  });

  it("writes long envelopes and terminals whole", () => {
    const encoder = createEntryEncoder();
    const long = appendOf(["x".repeat(3_000), "y".repeat(3_000)]);
    const ends = { ...long, entries: [runEnd(thread, "r"), runEnd(thread, "r")].map(encodeEnvelope) };
    for (const append of [long, ends]) {
      expect(commit(encoder, append).entries.map(({ body }) => body)).toEqual(
        append.entries.map(({ text }) => text),
      );
    }
  });

  it("keeps a bounded number of shapes and writers, and stays right beyond it", () => {
    const encoder = createEntryEncoder();
    for (let i = 0; i < 2_000; i++) {
      const own = { ...thread, threadId: `t${i % 700}` };
      const entries = Array.from({ length: 3 }, (_, n) =>
        encodeEnvelope({ ...note(own, `${n}`), call_id: `call-${i}` }),
      );
      const append = { thread: own, token: 1n, appendId: "id", entries };
      const { templates, entries: stored } = commit(encoder, append);
      const parts = templates[0]?.parts.split(UNIT_SEPARATOR) ?? [];
      expect(stored.slice(1).map(({ body }) => joinEnvelope(parts, body.split(UNIT_SEPARATOR)))).toEqual(
        entries.slice(1).map(({ text }) => text),
      );
    }
  });
});
