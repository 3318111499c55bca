import { describe, expect, it } from "vitest";
import type { SseEvent } from "../../../packages/langgraph-server/src/testing/sse-events.js";
import { firstDifference } from "./frames-law.js";

const frame = (id: string | undefined, text: string): SseEvent => ({
  id,
  event: undefined,
  data: { type: "CUSTOM", text },
});

const a = frame("e.1.0.0l", "a");
const b = frame("e.2.0.0l", "b");
const c = frame("e.2.1.0l", "c");
const d = frame("e.3.0.0l", "d");
const LOG = [a, b, c, d];
const prelude = (seq: number, epoch = "e") => [
  frame(undefined, "run started"),
  frame(`${epoch}.${seq}.999999999.0l`, "all"),
];
const renewed = ({ id = "", ...rest }: SseEvent): SseEvent => ({ ...rest, id: id.replace("e.", "f.") });

describe("A viewer's frames are the log", () => {
  it.each([
    ["told without a break", [[a, b, c, d]]],
    ["told over reconnects, whose preludes have no ids", [[a, b], [frame(undefined, "resumed"), c], [d]]],
    ["told from a full prelude on", [[...prelude(2), d]]],
    ["told from an empty thread's prelude on", [[frame(undefined, "empty"), a, b, c, d]]],
  ])("when they are %s", (_, connections) => {
    expect(firstDifference(connections, LOG)).toBeUndefined();
  });

  it("when a promoted database has renewed the epoch, and only then, with a prelude in between", () => {
    const connections = [
      [a, b],
      [...prelude(2, "f"), renewed(d)],
    ];
    const log = LOG.map(renewed);
    expect(firstDifference(connections, log, { mayRenewEpoch: true })).toBeUndefined();
    expect(firstDifference(connections, log)).toContain("another epoch");
  });
});

describe("A viewer's frames are not the log", () => {
  it.each([
    ["one is missing", [[a, c, d]], "is told for"],
    ["the last is missing", [[a, b, c]], "not told"],
    [
      "one comes twice",
      [
        [a, b],
        [b, c, d],
      ],
      "is told for",
    ],
    ["one says something else", [[a, b, frame("e.2.1.0l", "x"), d]], "is told for"],
    ["one is not in the log", [[a, b, c, d, frame("e.4.0.0l", "e")]], "not in the log"],
    [
      "a full prelude comes in the middle",
      [
        [a, b],
        [...prelude(2), d],
      ],
      "begins anew",
    ],
    ["a prelude of a new epoch goes back", [[a, b, c, d], prelude(1, "f")], "goes back"],
  ])("when %s", (_, connections, why) => {
    expect(firstDifference(connections, LOG, { mayRenewEpoch: true })).toContain(why);
  });
});
