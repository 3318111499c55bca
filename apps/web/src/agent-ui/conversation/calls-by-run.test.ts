import type { CallView } from "@throughline/agent-client";
import fc from "fast-check";
import { expect, it } from "vitest";
import { callsByRun, changedRuns, type GroupedCalls } from "./stable-thread";

const call = (runId: string, callId: string, more: Partial<CallView> = {}): CallView => ({
  runId,
  callId,
  parentId: callId === runId ? null : runId,
  kind: callId === runId ? "run" : "node",
  name: callId,
  attempt: 0,
  status: "ok",
  startedAt: 100,
  endedAt: 101,
  ...more,
});

const [first, second] = [call("r1", "r1"), call("r2", "r2")];

it("tells twins of two runs apart, and keeps runs in the order they began", () => {
  const [plan, twin] = [call("r1", "plan"), call("r2", "plan")];
  expect([...callsByRun([first, second, plan, twin])]).toEqual([
    ["r1", [first, plan]],
    ["r2", [second, twin]],
  ]);
});

it("keeps the list of a run in which nothing changed", () => {
  const calls = [first, second, call("r1", "late")];
  const before = callsByRun(calls);
  const now = callsByRun([first, { ...second, status: "running" }, ...calls.slice(2)], {
    calls,
    byRun: before,
  });
  expect(now.get("r1")).toBe(before.get("r1"));
  expect(now.get("r2")).not.toBe(before.get("r2"));
});

it("names the runs that came, changed and went, and the tool calls made in them", () => {
  const tool = call("r2", "t1", { kind: "tool" });
  const agent = call("r2", "scout", { kind: "subgraph", toolCallId: "t2" });
  const calls = [call("r0", "r0"), first, second];
  const before = callsByRun(calls);
  const now = callsByRun([first, second, tool, agent, call("r3", "r3")], { calls, byRun: before });
  expect(new Set(changedRuns(before, now))).toEqual(new Set(["r0", "r2", "r3", "t1", "t2"]));
  expect(changedRuns(now, now)).toEqual([]);
});

it("reads step by step what it reads at once", () => {
  const anyCall = fc.record({ run: fc.constantFrom("r1", "r2", "r3"), name: fc.constantFrom("a", "b", "c") });
  fc.assert(
    fc.property(fc.array(fc.array(anyCall), { minLength: 1, maxLength: 4 }), (steps) => {
      const known = new Map<string, CallView>();
      let before: GroupedCalls | undefined;
      for (const step of steps) {
        const calls = step.map(({ run, name }) => {
          const one = known.get(`${run} ${name}`) ?? call(run, name);
          known.set(`${run} ${name}`, one);
          return one;
        });
        before = { calls, byRun: callsByRun(calls, before) };
        expect([...before.byRun]).toEqual([...callsByRun(calls)]);
      }
    }),
  );
});
