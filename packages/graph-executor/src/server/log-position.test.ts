import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createLogPosition } from "./log-position.js";
import type { ServerEvent } from "./server-event.js";

const log: readonly ServerEvent[] = Array.from({ length: 40 }, (_, index) => ({
  id: String(index),
  event: "custom",
  data: { number: index },
}));

/** What a server with this log sends to who joins with this id. */
const sentAfter = (id: string, events = log) => events.slice(Number(id) + 1);

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

  it("gives every event once where ids repeat within a millisecond", () => {
    const timed = log.map((event, index) => ({ ...event, id: `${1_700_000_000_000 + (index >> 2)}-0` }));
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 60 }), { maxLength: 10 }), (lengths) => {
        const position = createLogPosition();
        const read: ServerEvent[] = [];
        for (const length of [...lengths, log.length]) {
          expect(position.rejoin()).toBe("-1");
          for (const event of timed.slice(0, length)) {
            const arrival = position.arrive(event);
            expect(arrival).not.toBe("other_log");
            if (arrival === "new") read.push(event);
          }
        }
        expect(read).toEqual(timed);
      }),
    );
  });

  it("goes on where a server with such ids kept an event from it", () => {
    const timed = log.map((event, index) => ({ ...event, id: `${1_700_000_000_000 + (index >> 2)}-0` }));
    const position = createLogPosition();
    for (const event of [...timed.slice(0, 10), ...timed.slice(11, 20)]) position.arrive(event);
    position.rejoin();
    const arrivals = timed.map((event) => position.arrive(event));
    expect(arrivals).toEqual([...Array(20).fill("known"), ...Array(20).fill("new")]);
  });
});
