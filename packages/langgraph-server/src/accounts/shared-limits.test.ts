import { createSimulatedClock } from "@throughline/ai-core";
import { describe, expect, it } from "vitest";
import { createAccountLimiter, DEFAULT_LIMITS, type SharedCounters } from "./limits.js";
import { createRedisCounts } from "./redis-limits.js";

const limits = { ...DEFAULT_LIMITS, maxStartsPerMinute: 3, maxWatchers: 2, maxBodyBytesPerMinute: 100 };

/** Counts that answer nothing while they are away, and else let everything pass. */
function scene() {
  let isAway = false;
  const told: string[] = [];
  const shared: SharedCounters = {
    take: async () => (isAway ? undefined : 0),
    hold: async (_, __, here, max) => (isAway ? undefined : here <= max),
    holding: (what, account, here) => void told.push(`${account} ${here} ${what}`),
    close() {},
  };
  const usage = createAccountLimiter({ clock: createSimulatedClock(), shared });
  const start = async () => (await usage.start("a", limits, async () => 0)).leave();
  return {
    usage,
    start,
    told,
    setAway(away: boolean) {
      isAway = away;
    },
  };
}

describe("an instance that shares its counts", () => {
  it("goes on where it stands itself when the others can't be asked", async () => {
    const { usage, start, setAway } = scene();
    await start();
    await start();
    await usage.body("a", limits, 99);
    setAway(true);
    await start();
    await expect(start()).rejects.toThrow("maxStartsPerMinute");
    await usage.body("a", limits, 1);
    await expect(usage.body("a", limits, 1)).rejects.toThrow("maxBodyBytesPerMinute");
    setAway(false);
    await start();
  });

  it("tells the others of each watcher that leaves, once, and of one that was not let in", async () => {
    const { usage, told } = scene();
    const first = await usage.watch("a", limits);
    const second = await usage.watch("a", limits);
    await expect(usage.watch("a", limits)).rejects.toThrow("maxWatchers");
    expect(told).toEqual(["a 2 watchers"]);
    first.leave();
    first.leave();
    second.leave();
    expect(told).toEqual(["a 2 watchers", "a 1 watchers", "a 0 watchers"]);
  });

  it("exports an account once at a time over all instances, and by itself when the others can't be asked", async () => {
    const { usage, told, setAway } = scene();
    const first = await usage.export("a");
    await expect(usage.export("a")).rejects.toThrow("maxExports");
    setAway(true);
    await expect(usage.export("a")).rejects.toThrow("maxExports");
    first.leave();
    (await usage.export("a")).leave();
    expect(told.at(-1)).toBe("a 0 exports");
  });

  it("says again and again who watches, for as long as there are any", async () => {
    const clock = createSimulatedClock();
    const said: (readonly string[])[] = [];
    const counts = createRedisCounts(
      {
        keyPrefix: "p",
        command: async (_, command) => {
          said.push(command.slice(3));
          return 1;
        },
      },
      clock,
    );
    await counts.hold("watchers", "a", 1, 5);
    clock.advance(45_000);
    expect(said.map((each) => each.slice(2, 4))).toEqual([
      ["1", "5"],
      ["1", ""],
      ["1", ""],
      ["1", ""],
    ]);
    counts.holding("watchers", "a", 0);
    clock.advance(60_000);
    expect(said).toHaveLength(5);
    expect(clock.pending()).toBe(0);
    expect(said.flat().join(" ")).not.toMatch(/\ba\b/);
  });
});
