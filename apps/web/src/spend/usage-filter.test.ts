import { expect, it } from "vitest";
import { rowFilter } from "./spend-groups";

it("A row's runs are those of its day, or of its agent, model or person in the month", () => {
  const december = { from: "2026-12-01", to: "2027-01-01" };
  expect(rowFilter("2026-12", "day", "2026-12-31")).toEqual({ from: "2026-12-31", to: "2027-01-01" });
  expect(rowFilter("2026-12", "agent", "langgraph:poet")).toEqual({ ...december, agentId: "langgraph:poet" });
  expect(rowFilter("2026-12", "model", "cheap")).toEqual({ ...december, model: "cheap" });
  expect(rowFilter("2026-12", "person", "ann")).toEqual({ ...december, subject: "ann" });
  expect(rowFilter("2026-12", "person", "")).toBeUndefined();
});
