import { createParser } from "eventsource-parser";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createEventParser, type StreamEvent } from "./event-stream.js";

function read(pieces: readonly string[]): readonly StreamEvent[] {
  const events: StreamEvent[] = [];
  const feed = createEventParser((event) => events.push(event));
  for (const piece of pieces) feed(piece);
  return events;
}

function readByAnother(pieces: readonly string[]): readonly StreamEvent[] {
  const events: StreamEvent[] = [];
  const parser = createParser({ onEvent: ({ id, event, data }) => events.push({ id, event, data }) });
  for (const piece of pieces) parser.feed(piece);
  return events;
}

const line = fc.oneof(
  fc.constantFrom(
    "",
    "data",
    "data:",
    "data: ",
    "id",
    "id:",
    ": beat",
    "event: token",
    "retry: 1",
    "daté: x",
  ),
  fc
    .record({
      field: fc.constantFrom(
        "data:",
        "data: ",
        "data:  ",
        "id:",
        "id: ",
        " data: ",
        "event:",
        ":",
        "other: ",
      ),
      value: fc.oneof(fc.string(), fc.constantFrom("a:b", "a\0b", "{}", "é", "😀")),
    })
    .map(({ field, value }) => field + value.replaceAll(/[\r\n]/g, "")),
);
const end = fc.constantFrom("\n", "\n", "\n", "\r\n", "\r");
const stream = fc.array(fc.tuple(line, end), { maxLength: 30 }).map((lines) => `${lines.flat().join("")}\n`);

/** Cut anywhere, also within a line's end. */
function cut(text: string, indexById: readonly number[]): readonly string[] {
  const at = [...new Set(indexById.map((place) => place % (text.length + 1)))].sort((a, b) => a - b);
  return [0, ...at].map((from, index) => text.slice(from, at[index] ?? text.length));
}

describe("a stream of events", () => {
  it("is read as another parser reads it, however it is cut", () => {
    fc.assert(
      fc.property(stream, fc.array(fc.nat(), { maxLength: 12 }), (text, indexById) => {
        const pieces = cut(text, indexById);
        expect(pieces.join("")).toBe(text);
        expect(read(pieces)).toEqual(readByAnother(pieces));
        expect(read(pieces)).toEqual(read([text]));
      }),
      { numRuns: Number(process.env.THROUGHLINE_PROPERTY_RUNS ?? 1_000) },
    );
  });

  it("tells an event with its blank line, and not before", () => {
    const events: StreamEvent[] = [];
    const feed = createEventParser((event) => events.push(event));
    feed('id: e.1.0\ndata: {"type":"A"}\n');
    expect(events).toEqual([]);
    feed("\n");
    expect(events).toEqual([{ id: "e.1.0", data: '{"type":"A"}' }]);
  });

  it("gives an id to the event it stands in, and to no other", () => {
    expect(read(["id: 1\ndata: a\n\ndata: b\n\nid: 3\n\ndata: c\n\n"])).toEqual([
      { id: "1", data: "a" },
      { id: undefined, data: "b" },
      { id: undefined, data: "c" },
    ]);
  });
});
