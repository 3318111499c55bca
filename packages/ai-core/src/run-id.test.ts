import { version } from "uuid";
import { expect, it } from "vitest";
import { createSimulatedClock } from "./clock.js";
import { newRunId, parseGraphId, toGraphId } from "./ids.js";

it("makes run ids of version 7 that sort by the clock they were given", () => {
  const clock = createSimulatedClock(1_700_000_000_000);
  const ids = Array.from({ length: 50 }, () => {
    clock.advance(1);
    return newRunId(clock);
  });
  expect(ids.every((id) => version(id) === 7)).toBe(true);
  expect([...ids].sort()).toEqual(ids);
});

it("reads a graph id with or without its provider and refuses what is neither", () => {
  expect(toGraphId("chat")).toBe("langgraph:chat");
  expect(parseGraphId("langgraph:chat")).toBe("chat");
  expect(parseGraphId("chat")).toBe("chat");
  expect(parseGraphId("other:chat")).toBeUndefined();
  expect(parseGraphId("../chat")).toBeUndefined();
});
