import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  idlePoller,
  DEFAULT_POLL_POLICY as POLICY,
  type Poller,
  type PollerEffect,
  type PollerInput,
  transitionPoller,
} from "./agent-status-poller.js";

const MIDDLE = 0.5;

function poller(random = MIDDLE) {
  let state: Poller = idlePoller;
  let effects: readonly PollerEffect[] = [];
  return {
    at(now: number, input: PollerInput) {
      [state, effects] = transitionPoller(state, input, { now, random: () => random });
      return this;
    },
    asked: () => effects.flatMap((effect) => (effect.kind === "poll" ? [effect.key] : [])),
    pollId: () => effects.flatMap((effect) => (effect.kind === "poll" ? [effect.pollId] : []))[0] ?? -1,
    next: () => effects.flatMap((effect) => (effect.kind === "timer" ? [effect.at] : []))[0],
  };
}

describe("stepPoller", () => {
  it("asks at once about what it is to watch, and only once until it is answered", () => {
    const one = poller().at(0, { kind: "watch", keys: ["a", "b", "a"] });
    expect(one.asked()).toEqual(["a", "b"]);
    expect(one.at(5_000, { kind: "due" }).asked()).toEqual([]);
    expect(one.at(5_000, { kind: "watch", keys: ["a", "b"] }).asked()).toEqual([]);
  });

  it.each([
    [0, 8_000],
    [MIDDLE, 10_000],
    [0.999_999, 12_000],
  ])("spreads the cadence: with %f at random it asks again after %i ms", (random, wait) => {
    const one = poller(random).at(0, { kind: "watch", keys: ["a"] });
    one.at(100, { kind: "answered", key: "a", pollId: one.pollId(), ok: true });
    expect(one.next()).toBe(100 + wait);
    expect(one.at(99 + wait, { kind: "due" }).asked()).toEqual([]);
    expect(one.at(100 + wait, { kind: "due" }).asked()).toEqual(["a"]);
  });

  it("doubles the pause with each failure, up to a bound, and forgets them with the first answer", () => {
    const one = poller().at(0, { kind: "watch", keys: ["a"] });
    let pollId = one.pollId();
    const pauses: number[] = [];
    let now = 0;
    for (let failure = 1; failure <= 5; failure += 1) {
      const next = one.at(now, { kind: "answered", key: "a", pollId, ok: false }).next() ?? -1;
      pauses.push(next - now);
      now = next;
      pollId = one.at(now, { kind: "due" }).pollId();
    }
    expect(pauses).toEqual([20_000, 40_000, 80_000, 120_000, 120_000]);
    expect(one.at(now, { kind: "answered", key: "a", pollId, ok: true }).next()).toBe(now + POLICY.everyMs);
  });

  it("gives up on an answer after a while, and what comes after that is nobody's", () => {
    const one = poller().at(0, { kind: "watch", keys: ["a"] });
    const late = one.pollId();
    expect(one.next()).toBe(POLICY.answerMs);
    one.at(POLICY.answerMs, { kind: "due" });
    expect(one.asked()).toEqual([]);
    expect(one.next()).toBe(POLICY.answerMs + 20_000);
    one.at(POLICY.answerMs + 1, { kind: "answered", key: "a", pollId: late, ok: true });
    expect(one.next()).toBe(POLICY.answerMs + 20_000);
  });

  it("rests while nobody looks, and asks what is due when somebody does", () => {
    const one = poller().at(0, { kind: "watch", keys: ["a"] });
    one.at(1, { kind: "answered", key: "a", pollId: one.pollId(), ok: true });
    one.at(2, { kind: "paused", isPaused: true });
    expect(one.next()).toBeUndefined();
    expect(one.at(60_000, { kind: "due" }).asked()).toEqual([]);
    expect(one.at(60_001, { kind: "paused", isPaused: false }).asked()).toEqual(["a"]);
  });

  it("asks again at once, and counts no failure, when a question was slept through", () => {
    const one = poller()
      .at(0, { kind: "watch", keys: ["a"] })
      .at(1, { kind: "paused", isPaused: true });
    one.at(3_600_000, { kind: "paused", isPaused: false });
    expect(one.asked()).toEqual(["a"]);
    one.at(3_600_100, { kind: "answered", key: "a", pollId: one.pollId(), ok: true });
    expect(one.next()).toBe(3_600_100 + POLICY.everyMs);
  });

  it("leaves out the page that is open, and asks at once when it is closed", () => {
    const one = poller()
      .at(0, { kind: "open", keys: ["a"] })
      .at(0, { kind: "watch", keys: ["a", "b"] });
    expect(one.asked()).toEqual(["b"]);
    expect(one.at(1, { kind: "open", keys: [] }).asked()).toEqual(["a"]);
  });

  it("asks no second time when a page was opened and closed while a question was under way", () => {
    const one = poller().at(0, { kind: "watch", keys: ["a"] });
    one.at(1, { kind: "open", keys: ["a"] });
    expect(one.at(2, { kind: "open", keys: [] }).asked()).toEqual([]);
    one.at(3, { kind: "open", keys: ["a"] });
    expect(one.at(POLICY.answerMs, { kind: "open", keys: [] }).asked()).toEqual(["a"]);
  });

  it("forgets what it no longer watches", () => {
    const one = poller()
      .at(0, { kind: "watch", keys: ["a"] })
      .at(1, { kind: "watch", keys: [] });
    expect(one.next()).toBeUndefined();
    expect(one.at(60_000, { kind: "due" }).asked()).toEqual([]);
  });

  it("never has two questions about one agent, and never forgets to ask, whatever happens when", () => {
    const KEYS = ["a", "b", "c"];
    const input = fc.oneof(
      fc.record({ kind: fc.constant("open" as const), keys: fc.subarray(KEYS) }),
      fc.record({ kind: fc.constant("paused" as const), isPaused: fc.boolean() }),
      fc.record({ kind: fc.constant("due" as const) }),
      fc.record({ kind: fc.constant("answer" as const), ok: fc.boolean() }),
    );
    const step = fc.record({ input, wait: fc.constantFrom(0, 1, 900, 9_000, 16_000) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let now = 0;
        let state = idlePoller;
        /** The question under way of each key, and when it is given up. */
        const asked = new Map<string, { pollId: number; until: number }>();
        const take = (next: PollerInput): void => {
          const [after, effects] = transitionPoller(state, next, { now, random: () => MIDDLE });
          state = after;
          for (const effect of effects) {
            if (effect.kind === "timer") {
              const isWatching = !state.isPaused && KEYS.some((key) => !state.open.has(key));
              expect(effect.at !== undefined).toBe(isWatching);
              if (effect.at !== undefined) expect(effect.at).toBeGreaterThan(now);
              continue;
            }
            expect(state.isPaused || state.open.has(effect.key)).toBe(false);
            expect(asked.get(effect.key)?.until ?? now).toBeLessThanOrEqual(now);
            asked.set(effect.key, { pollId: effect.pollId, until: now + POLICY.answerMs });
          }
        };
        take({ kind: "watch", keys: KEYS });
        for (const { input: given, wait } of steps) {
          now += wait;
          if (given.kind !== "answer") {
            take(given);
            continue;
          }
          const [key, one] = [...asked][0] ?? [];
          if (key === undefined || one === undefined) continue;
          asked.delete(key);
          take({ kind: "answered", key, pollId: one.pollId, ok: given.ok });
        }
      }),
    );
  });
});
