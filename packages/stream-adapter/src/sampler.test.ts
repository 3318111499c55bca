import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { EnvelopeDraft } from "./envelope-draft.js";
import { createEventSampler, MAX_WINDOW_MS, MIN_WINDOW_MS } from "./event-sampler.js";

const site = { parent_id: null, agent: "a" };
const token = (text: string, call = "c"): EnvelopeDraft => ({
  ...site,
  type: "llm_token",
  call_id: call,
  payload: { message_id: call, text },
});
const end = (call = "c"): EnvelopeDraft => ({
  ...site,
  type: "llm_end",
  call_id: call,
  payload: { message_id: call, usage: null, finish_reason: null, model: null, status: "ok" },
});
const update = (data: number): EnvelopeDraft => ({
  ...site,
  type: "tool_update",
  call_id: "t",
  payload: { tool_name: "t", data },
});
const texts = (drafts: readonly EnvelopeDraft[]) =>
  drafts.map((draft) => (draft.type === "llm_token" ? (draft.payload.text ?? "") : draft.type));

describe("the sampler", () => {
  it("passes a message's first token at once and gathers the next ones", () => {
    const sampler = createEventSampler("user");
    expect(texts(sampler.push([token("a")], 0))).toEqual(["a"]);
    expect(sampler.push([token("b")], 5)).toEqual([]);
    expect(sampler.push([token("c")], 10)).toEqual([]);
    expect(sampler.nextFlushAt()).toBe(MIN_WINDOW_MS);
    expect(texts(sampler.flush(MIN_WINDOW_MS))).toEqual(["bc"]);
  });

  it("widens its window while text flows, to no more than 75 ms", () => {
    const sampler = createEventSampler("user");
    const sentAt: number[] = [];
    for (let now = 0; now <= 1_000; now += 1) {
      if (sampler.flush(now).length + sampler.push([token("x")], now).length > 0) sentAt.push(now);
    }
    const gaps = sentAt.slice(1).map((at, index) => at - (sentAt[index] ?? 0));
    expect(gaps.slice(0, 3)).toEqual([MIN_WINDOW_MS, 50, MAX_WINDOW_MS]);
    expect(Math.max(...gaps)).toBe(MAX_WINDOW_MS);
  });

  it("sends the same, at the same time, by the short way of plain text as by the long one", () => {
    const event = fc.record({
      after: fc.integer({ min: 0, max: 60 }),
      call: fc.constantFrom("c", "d"),
      kind: fc.constantFrom("text", "text", "text", "reasoning", "end"),
    });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), fc.constantFrom("user", "debug"), (events, profile) => {
        const long = createEventSampler(profile);
        const short = createEventSampler(profile);
        let now = 0;
        for (const [index, { after, call, kind }] of events.entries()) {
          now += after;
          const text = String(index);
          if (kind === "text") {
            const sent = long.push([token(text, call)], now);
            const where = { callId: call, parentId: null, agent: "a" };
            const waits = short.extend(where, call, text, now);
            expect(waits ? [] : short.push([token(text, call)], now)).toEqual(sent);
          } else {
            const thought: EnvelopeDraft = {
              ...site,
              type: "llm_token",
              call_id: call,
              payload: { message_id: call, reasoning: text },
            };
            const draft = kind === "end" ? end(call) : thought;
            expect(short.push([draft], now)).toEqual(long.push([draft], now));
          }
          expect(short.nextFlushAt()).toBe(long.nextFlushAt());
        }
        expect(short.drain()).toEqual(long.drain());
      }),
      { numRuns: 500 },
    );
  });

  it("passes the first token after a silence at once", () => {
    const sampler = createEventSampler("user");
    sampler.push([token("a")], 0);
    expect(texts(sampler.push([token("b")], 500))).toEqual(["b"]);
  });

  it("lets no start or end overtake content, nor wait behind it", () => {
    const sampler = createEventSampler("user");
    sampler.push([token("a")], 0);
    expect(texts(sampler.push([token("b"), end()], 1))).toEqual(["b", "llm_end"]);
  });

  it("keeps the newest of many tool updates and every kind of token apart", () => {
    const sampler = createEventSampler("user");
    sampler.push([update(1)], 0);
    sampler.push([update(2)], 1);
    sampler.push([update(3)], 2);
    expect(sampler.drain().map((draft) => draft.payload)).toEqual([{ tool_name: "t", data: 3 }]);
  });

  it("does not sample at all for the debug profile", () => {
    const sampler = createEventSampler("debug");
    expect(texts(sampler.push([token("a"), token("b")], 0))).toEqual(["a", "b"]);
    expect(sampler.nextFlushAt()).toBeUndefined();
  });

  it("loses, doubles and reorders nothing within a call, and holds nothing longer than 250 ms", () => {
    const step = fc.record({ wait: fc.nat(60), call: fc.constantFrom("c", "d"), last: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 60 }), (steps) => {
        const sampler = createEventSampler("user");
        const out: EnvelopeDraft[] = [];
        const sent = new Map([
          ["c", ""],
          ["d", ""],
        ]);
        const sentAt = new Map<string, number>();
        const take = (drafts: readonly EnvelopeDraft[], at: number) => {
          out.push(...drafts);
          const tokens = texts(drafts.filter(({ type }) => type === "llm_token")).join("");
          for (const index of tokens.split(";").slice(0, -1)) {
            expect(at - (sentAt.get(index) ?? Number.NaN)).toBeLessThanOrEqual(250);
          }
        };
        let now = 0;
        steps.forEach(({ wait, call, last }, index) => {
          now += wait;
          for (
            let due = sampler.nextFlushAt();
            due !== undefined && due <= now;
            due = sampler.nextFlushAt()
          ) {
            take(sampler.flush(due), due);
          }
          sentAt.set(`${index}`, now);
          sent.set(call, `${sent.get(call)}${index};`);
          take(
            sampler.push(last ? [token(`${index};`, call), end(call)] : [token(`${index};`, call)], now),
            now,
          );
        });
        out.push(...sampler.drain());
        for (const [call, expected] of sent) {
          expect(
            texts(out.filter((draft) => draft.type === "llm_token" && draft.call_id === call)).join(""),
          ).toBe(expected);
        }
      }),
      { numRuns: 300 },
    );
  });
});
