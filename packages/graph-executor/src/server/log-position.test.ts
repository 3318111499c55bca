import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ServerEvent } from "./client.js";
import { createLogPosition } from "./stream-position.js";

const log: readonly ServerEvent[] = Array.from({ length: 40 }, (_, index) => ({
  id: String(index),
  event: "custom",
  data: { number: index },
}));

/** What a server with this log sends to who joins with this id. */
const sentAfter = (id: string, events = log) => events.slice(Number(id) + 1);

const FIRST_MS = 1_700_000_000_000;

describe("a reader's place in a log", () => {
  it("gives every event once and in order, wherever the connections break", () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 15 }), { maxLength: 30 }), (lengths) => {
        const position = createLogPosition();
        const read: ServerEvent[] = [];
        for (const length of [...lengths, log.length]) {
          for (const event of sentAfter(position.rejoin()).slice(0, length)) {
            const arrival = position.arrive(event);
            expect(arrival).not.toBe("other_log");
            if (arrival === "new") read.push(event);
          }
        }
        expect(read).toEqual(log);
      }),
    );
  });

  it("notices a log that was begun anew", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 39 }), (reached) => {
        const position = createLogPosition();
        for (const event of sentAfter(position.rejoin()).slice(0, reached + 1)) position.arrive(event);
        const anew = log.map((event) => ({ ...event, data: { number: "another" } }));
        const [first] = sentAfter(position.rejoin(), anew);
        expect(first && position.arrive(first)).toBe("other_log");
      }),
    );
  });

  it("notices a log that lost its beginning, where a server sends only what comes from now on", () => {
    const position = createLogPosition();
    for (const event of log.slice(0, 10)) position.arrive(event);
    position.rejoin();
    expect(position.arrive({ id: "3", event: "custom", data: {} })).toBe("other_log");
  });

  it("notices a hole", () => {
    const position = createLogPosition();
    for (const event of log.slice(0, 3)) position.arrive(event);
    expect(position.arrive({ id: "5", event: "custom", data: {} })).toBe("other_log");
  });

  it("begins after a given event", () => {
    const position = createLogPosition("8");
    expect(position.rejoin()).toBe("8");
    expect(position.arrive({ id: "9", event: "custom", data: {} })).toBe("new");
  });

  /** Events of the same millisecond: with a number of their own in Redis, all with the same id in Python's memory. */
  const inRedis = log.map((event, index) => ({ ...event, id: `${FIRST_MS + (index >> 2)}-${index % 4}` }));
  const inMemory = log.map((event, index) => ({ ...event, id: `${FIRST_MS + (index >> 2)}-0` }));
  const timedAfter = (id: string, events: readonly ServerEvent[]) =>
    events.filter((event) => id === "-1" || timeOf(event.id ?? "") > timeOf(id));

  it.each([
    ["are unique", inRedis],
    ["repeat within a millisecond", inMemory],
  ])("gives every event once where ids are made of time and %s", (_, timed) => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 60 }), { maxLength: 10 }), (lengths) => {
        const position = createLogPosition();
        const read: ServerEvent[] = [];
        for (const length of [...lengths, log.length]) {
          const sent = timedAfter(position.rejoin(), timed);
          expect(sent.length).toBeLessThanOrEqual(timed.length - read.length + 4);
          for (const event of sent.slice(0, length)) {
            const arrival = position.arrive(event);
            expect(arrival).not.toBe("other_log");
            if (arrival === "new") read.push(event);
          }
        }
        expect(read).toEqual(timed);
      }),
    );
  });

  it("asks for no more than the last event where ids are made of time and unique", () => {
    const position = createLogPosition();
    for (const event of inRedis.slice(0, 30)) position.arrive(event);
    expect(position.rejoin()).toBe(inRedis[28]?.id);
    expect(inRedis.slice(29, 31).map((event) => position.arrive(event))).toEqual(["known", "new"]);
  });

  it("goes on where a server with such ids kept an event from it", () => {
    const position = createLogPosition();
    for (const event of [...inMemory.slice(0, 17), ...inMemory.slice(18, 20)]) position.arrive(event);
    const arrivals = timedAfter(position.rejoin(), inMemory).map((event) => position.arrive(event));
    expect(arrivals).toEqual([...Array(4).fill("known"), ...Array(20).fill("new")]);
  });

  it("reads all once more where the order of ids is not known", () => {
    const named = log.map((event, index) => ({ ...event, id: `event ${(index * 7) % 40}` }));
    const position = createLogPosition();
    for (const event of named.slice(0, 20)) position.arrive(event);
    expect(position.rejoin()).toBe("-1");
    expect(named.slice(0, 21).map((event) => position.arrive(event))).toEqual([
      ...Array(20).fill("known"),
      "new",
    ]);
  });
});

/** A time that can be compared, of an id `milliseconds-number`. */
function timeOf(id: string): number {
  const [milliseconds = 0, number = 0] = id.split("-").map(Number);
  return (milliseconds - FIRST_MS) * 1_000 + number;
}
