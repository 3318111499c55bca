import { createSimulatedClock } from "@throughline/ai-core";
import { describe, expect, it } from "vitest";
import { poll } from "./poller.js";

const turn = () => new Promise((resolve) => setImmediate(resolve));

interface Scene {
  readonly random?: number;
  readonly firstAfterMs?: number;
  readonly waits?: readonly number[];
}

function open({ random = 0.5, firstAfterMs, waits = [] }: Scene = {}) {
  const clock = createSimulatedClock();
  const begun: number[] = [];
  const failures: unknown[] = [];
  let gate: Promise<void> = Promise.resolve();
  const poller = poll({
    clock,
    random: () => random,
    everyMs: 1_000,
    ...(firstAfterMs !== undefined && { firstAfterMs }),
    async once() {
      begun.push(clock.now());
      const nth = begun.length;
      await gate;
      return waits[nth - 1];
    },
    failed: (error) => void failures.push(error),
  });
  /** Looks that begin from now on are over when the answer is called. */
  function holdLooks(): { letGo(): void; fail(): void } {
    let letGo = () => {};
    let fail = () => {};
    gate = new Promise<void>((resolve, reject) => {
      letGo = resolve;
      fail = () => reject(new Error("away"));
    });
    return { letGo, fail };
  }
  return { clock, begun, failures, poller, holdLooks };
}

describe("Who keeps poller", () => {
  it.each([
    { random: 0, step: 750 },
    { random: 0.5, step: 1_000 },
    { random: 0.75, step: 1_125 },
  ])(
    "looks at once, then again and again, spread by a quarter either way ($step)",
    async ({ random, step }) => {
      const { clock, begun, poller } = open({ random });
      for (let round = 0; round < 2; round += 1) {
        await turn();
        clock.advance(step - 1);
        await turn();
        expect(begun).toHaveLength(round + 1);
        clock.advance(1);
      }
      expect(begun).toEqual([0, step, 2 * step]);
      await poller.close();
    },
  );

  it("waits before the first look where that is wanted, and is asked earlier all the same", async () => {
    const { clock, begun, poller } = open({ firstAfterMs: 300 });
    await turn();
    expect(begun).toEqual([]);
    clock.advance(100);
    await poller.now();
    clock.advance(300);
    await turn();
    expect(begun).toEqual([100]);
    await poller.close();
  });

  it("comes back earlier where something falls due, and never later than its interval", async () => {
    const { clock, begun, poller } = open({ waits: [200, 5_000] });
    await turn();
    clock.advance(200);
    await turn();
    clock.advance(1_000);
    expect(begun).toEqual([0, 200, 1_200]);
    await poller.close();
  });

  it("looks once more for who asked while a look was under way, however many asked", async () => {
    const { begun, poller, holdLooks } = open();
    await turn();
    const held = holdLooks();
    const first = poller.now();
    const answered: string[] = [];
    const later = [poller.now(), poller.now()].map((asked) => asked.then(() => answered.push("later")));
    await turn();
    expect([begun.length, answered]).toEqual([2, []]);
    held.letGo();
    await Promise.all([first, ...later]);
    expect(begun).toHaveLength(3);
    await poller.close();
  });

  it("says what failed, and looks again in its time", async () => {
    const { clock, begun, failures, poller, holdLooks } = open();
    await turn();
    const held = holdLooks();
    const asked = poller.now();
    held.fail();
    await asked;
    expect(failures).toEqual([new Error("away")]);
    holdLooks().letGo();
    clock.advance(1_000);
    await turn();
    expect(begun).toEqual([0, 0, 1_000]);
    expect(failures).toHaveLength(1);
    await poller.close();
  });

  it("closes when the look under way is over, and then never looks again", async () => {
    const { clock, begun, poller, holdLooks } = open();
    await turn();
    const held = holdLooks();
    void poller.now();
    void poller.now();
    let isClosed = false;
    const closing = poller.close().then(() => {
      isClosed = true;
    });
    await turn();
    expect(isClosed).toBe(false);
    held.letGo();
    await closing;
    await poller.now();
    expect(begun).toHaveLength(2);
    expect(clock.pending()).toBe(0);
  });

  it("tells a look that is under way to come to its end", async () => {
    let told: AbortSignal | undefined;
    const poller = poll({
      clock: createSimulatedClock(),
      random: () => 0.5,
      everyMs: 1_000,
      once(closing) {
        told = closing;
        return new Promise((resolve) =>
          closing.addEventListener("abort", () => resolve(undefined), { once: true }),
        );
      },
      failed() {},
    });
    expect(told?.aborted).toBe(false);
    await poller.close();
    expect(told?.aborted).toBe(true);
  });
});
