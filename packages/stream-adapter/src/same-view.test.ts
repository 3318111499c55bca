import type { AgUiVersion, InterruptForm } from "@throughline/reading";
import {
  type AgUiEncoderOptions,
  applyEntry,
  createAgUiEncoder,
  emptyThreadProjection,
} from "@throughline/reading";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { randomThread } from "./testing/random-thread.js";
import { createWatcher, type Watcher } from "./testing/watcher.js";

vi.setConfig({ testTimeout: 180_000 });

const RUNS = Number(process.env.THROUGHLINE_PROPERTY_RUNS ?? 60);

const faceOptions: fc.Arbitrary<AgUiEncoderOptions> = fc.record({
  threadName: fc.constant("plan"),
  line: fc.constantFrom<AgUiVersion[]>("0.0", "1.0"),
  interrupts: fc.constantFrom<InterruptForm[]>("standard", "both"),
  calls: fc.constant(true),
});

/** Compared as text first, because a thread is compared hundreds of times. */
function expectSame(one: Watcher, other: Watcher): void {
  const [a, b] = [one.shown(), other.shown()];
  if (JSON.stringify(a) !== JSON.stringify(b)) expect(a).toEqual(b);
}

describe("everyone sees the same", () => {
  it("P87: after every entry, whenever they came: messages, nested ones and thoughts, calls, questions, state, what is open", () => {
    fc.assert(
      fc.property(fc.noBias(randomThread), faceOptions, fc.nat(), (entries, options, at) => {
        const face = createAgUiEncoder(options);
        const join = at % entries.length;
        const live = createWatcher();
        const late = createWatcher();
        let fold = emptyThreadProjection;
        for (const [index, entry] of entries.entries()) {
          const now = createWatcher();
          now.take(face.fullSnapshot(fold, undefined).map(({ event }) => event));
          if (index > 0) expectSame(now, live);
          if (index === join) late.take(face.fullSnapshot(fold, undefined).map(({ event }) => event));
          const events = face.frames(fold, entry).map(({ event }) => event);
          live.take(events);
          fold = applyEntry(fold, entry);
          if (index < join) continue;
          late.take(events);
          expectSame(late, live);
        }
      }),
      // Small threads, which it would begin with, have little that could be lost.
      { numRuns: Math.ceil(RUNS / 3) },
    );
  });
});
