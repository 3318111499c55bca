import { describe, expect, it } from "vitest";
import { FAULT_KINDS, planFaults } from "./fault-plan.js";
import { planRooms } from "./work-plan.js";

const options = { seed: 7, durationMs: 600_000, without: [], scale: 1 } as const;

describe("The plan of a seed", () => {
  it("is the same each time, and another for another seed", () => {
    expect(planFaults(options)).toEqual(planFaults(options));
    expect(planFaults({ ...options, seed: 8 })).not.toEqual(planFaults(options));
  });

  it("has every kind of fault within half an hour", () => {
    const kinds = new Set(planFaults({ ...options, durationMs: 1_800_000 }).map(({ kind }) => kind));
    expect([...kinds].sort()).toEqual(Object.values(FAULT_KINDS).flat().sort());
  });

  it("leaves out what the stage does not have", () => {
    const faults = planFaults({ ...options, without: ["failover", "standbyPause"] });
    expect(faults.filter(({ kind }) => kind === "failover" || kind === "standbyPause")).toEqual([]);
  });

  it("gives tenants threads of the same names, and never the same thread twice", () => {
    const plan = planRooms({ seed: 7, accounts: ["ann", "bob"], deeds: 2 });
    const rooms = Array.from({ length: 40 }, () => plan.next().value);
    const names = rooms.map((room) => room && `${room.account}/${room.threadId}`);
    expect(new Set(names).size).toBe(40);
    expect(new Set(rooms.map((room) => room?.threadId)).size).toBe(20);
  });
});
