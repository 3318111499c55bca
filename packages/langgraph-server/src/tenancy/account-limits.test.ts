import { describe, expect, it } from "vitest";
import { createAccountUsage, DEFAULT_LIMITS } from "./account-limits.js";

const limits = { ...DEFAULT_LIMITS, maxConcurrentRuns: 2, maxWatchers: 2 };
const open = async () => true;
const ended = async () => false;

describe("an account's use of an instance", () => {
  it("is bounded in watchers, for each account by itself", () => {
    const usage = createAccountUsage();
    const first = usage.watch("a", limits);
    usage.watch("a", limits);
    expect(() => usage.watch("a", limits)).toThrow("watches 2 streams already");
    usage.watch("b", limits);
    first.leave();
    first.leave();
    usage.watch("a", limits);
    expect(() => usage.watch("a", limits)).toThrow("watches 2 streams already");
  });

  it("is bounded in runs, which end when the service says so", async () => {
    const usage = createAccountUsage();
    (await usage.run("a", limits)).holdFor("r1", open);
    (await usage.run("a", limits)).holdFor("r2", open);
    await expect(usage.run("a", limits)).rejects.toMatchObject({ code: "rate_limited" });
    usage.runEnded("r1");
    usage.runEnded("r1");
    (await usage.run("a", limits)).leave();
  });

  it("looks again before it refuses: a run may have ended elsewhere", async () => {
    const usage = createAccountUsage();
    (await usage.run("a", limits)).holdFor("r1", ended);
    (await usage.run("a", limits)).holdFor("r2", open);
    const third = await usage.run("a", limits);
    await expect(usage.run("a", limits)).rejects.toMatchObject({ code: "rate_limited" });
    third.leave();
    await usage.run("a", limits);
  });

  it("never lets two in at once for the last place", async () => {
    const usage = createAccountUsage();
    const asked = await Promise.allSettled([1, 2, 3, 4].map(() => usage.run("a", limits)));
    expect(asked.filter(({ status }) => status === "fulfilled")).toHaveLength(2);
  });
});
