import { createSimulatedClock } from "@throughline/ai-core";
import { describe, expect, it } from "vitest";
import { createTransferPermits } from "./transfer-permits.js";

describe("Permits to send and receive files", () => {
  function open(maxTransfersPerAccount: number, maxTransfersPerInstance: number) {
    const clock = createSimulatedClock(0);
    const limits = { maxTransfersPerAccount, maxTransfersPerInstance };
    return { clock, permits: createTransferPermits(limits, { clock, patienceMs: 2_000 }) };
  }

  it("are refused by the name of the account's limit after a moment, with a time to come back", async () => {
    const { clock, permits } = open(2, 10);
    await permits.take("acme");
    await permits.take("acme");
    const third = permits.take("acme");
    const refused = expect(third).rejects.toMatchObject({
      code: "rate_limited",
      details: { limit: "maxTransfersPerAccount", max: 2, retryAfterMs: expect.any(Number) },
    });
    await permits.take("other");
    clock.advance(2_000);
    await refused;
    expect(clock.pending()).toBe(0);
  });

  it("are refused by the name of the instance's limit where that is full", async () => {
    const { clock, permits } = open(2, 3);
    for (const account of ["a", "a", "b"]) await permits.take(account);
    const refused = expect(permits.take("c")).rejects.toMatchObject({
      details: { limit: "maxTransfersPerInstance", max: 3 },
    });
    clock.advance(2_000);
    await refused;
  });

  it("are refused for the longer the more of the account wait, so that they don't all come back at once", async () => {
    const { clock, permits } = open(1, 10);
    await permits.take("acme");
    const waitAfter = async (count: number) => {
      const refusals = Array.from({ length: count }, () =>
        permits
          .take("acme")
          .catch(({ details }: { details: { retryAfterMs: number } }) => details.retryAfterMs),
      );
      clock.advance(2_000);
      return (await Promise.all(refusals))[0];
    };
    expect(await waitAfter(1)).toBe(2_000);
    expect(await waitAfter(12)).toBe(12_000);
    expect(await waitAfter(100)).toBe(30_000);
  });

  it("go to the next that waits as soon as one is given back, and giving one back twice gives nothing more", async () => {
    const { clock, permits } = open(1, 10);
    const first = await permits.take("acme");
    const second = permits.take("acme");
    const third = permits.take("acme");
    first.leave();
    first.leave();
    await second;
    const refused = expect(third).rejects.toMatchObject({ code: "rate_limited" });
    clock.advance(2_000);
    await refused;
  });

  it("of one account that waits for its own keep no other account waiting", async () => {
    const { permits } = open(1, 2);
    const mine = await permits.take("greedy");
    const other = await permits.take("other");
    const greedy = [permits.take("greedy"), permits.take("greedy")];
    const guest = permits.take("guest");
    other.leave();
    await guest;
    mine.leave();
    await Promise.race(greedy);
    for (const waiting of greedy) waiting.catch(() => {});
  });
});
