import { expect, it } from "vitest";
import { takesMessages } from "./composer";

it("is known of a graph with channels, and assumed of one that tells none", () => {
  expect(takesMessages({ inputSchema: { type: "object", properties: { messages: {}, topic: {} } } })).toBe(
    true,
  );
  expect(takesMessages({ inputSchema: { type: "object", properties: { topic: {} } } })).toBe(false);
  expect(takesMessages({ inputSchema: { type: "object", properties: {} } })).toBe(true);
  expect(takesMessages({ inputSchema: {} })).toBe(true);
});
