import { describe, expect, it } from "vitest";
import { planWatch, type Sighting, startWatch, type WatchEffect, type WatchState } from "./watch.js";

const PACE = { activeMs: 1_000, idleMs: 15_000 };
const idleAt = (checkpointId: string, upstreamRunId?: string, isOurs = false): Sighting => ({
  active: [],
  checkpoint: { checkpointId, isOurs, ...(upstreamRunId !== undefined && { upstreamRunId }) },
});
const running = (upstreamRunId: string, isOurs = false): Sighting => ({
  active: [{ upstreamRunId, dialect: "modes", isOurs }],
});

function watch(...sightings: readonly Sighting[]): { state: WatchState; effects: readonly WatchEffect[][] } {
  let state = startWatch(PACE);
  const effects: WatchEffect[][] = [];
  for (const sighting of sightings) {
    const [next, made] = planWatch(state, sighting, PACE);
    state = next;
    effects.push([...made]);
  }
  return { state, effects };
}

describe("a watched thread", () => {
  it("is no news at the first look: whoever connects gets a snapshot anyway", () => {
    expect(watch(idleAt("c1", "r1")).effects).toEqual([[]]);
    expect(watch({ active: [] }).effects).toEqual([[]]);
  });

  it("is looked at less and less often while nothing happens, down to the slowest pace", () => {
    const waits = [1, 2, 3, 4, 5, 6].map((looks) => watch(...Array(looks).fill(idleAt("c1"))).state.waitMs);
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 15_000, 15_000]);
  });

  it("is looked at often again as soon as something happens", () => {
    expect(watch(idleAt("c1"), idleAt("c1"), running("r1")).state.waitMs).toBe(1_000);
    expect(watch(idleAt("c1"), idleAt("c1"), idleAt("c2")).state.waitMs).toBe(1_000);
  });

  it("is looked at less and less often while a run of ours is all that happens", () => {
    const waits = [2, 3, 4].map((looks) => watch(...Array(looks).fill(running("r1", true))).state.waitMs);
    expect(waits).toEqual([4_000, 8_000, 15_000]);
  });

  it("has its foreign runs followed for as long as they are active, in case the one who followed them died", () => {
    const follow = { kind: "follow", upstreamRunId: "r1", dialect: "modes" };
    expect(watch(running("r1"), running("r1")).effects).toEqual([[follow], [follow]]);
  });

  it("never has our own runs followed as foreign ones", () => {
    expect(watch(idleAt("c1"), running("r1", true), idleAt("c2", "r1", true)).effects.flat()).toEqual([]);
  });

  it("is no news after a run that was followed", () => {
    expect(watch(idleAt("c1"), running("r1"), idleAt("c2", "r1")).effects[2]).toEqual([]);
  });

  it("is news after a run that came and went between two looks", () => {
    const changed = { kind: "changed", checkpointId: "c2", upstreamRunId: "r9" };
    expect(watch(idleAt("c1"), idleAt("c2", "r9")).effects[1]).toEqual([changed]);
  });

  it("is news after a write outside any run", () => {
    const changed = { kind: "changed", checkpointId: "c2" };
    expect(watch(idleAt("c1"), idleAt("c2")).effects[1]).toEqual([changed]);
    expect(watch({ active: [] }, idleAt("c2")).effects[1]).toEqual([changed]);
  });

  it("tells a change once", () => {
    expect(watch(idleAt("c1"), idleAt("c2"), idleAt("c2")).effects[2]).toEqual([]);
  });
});
