import { expect, it } from "vitest";
import { agentPath, placeOf, threadPath } from "./routes";

it("reads the addresses that the console writes, whatever a thread is called", () => {
  for (const threadName of ["tides", "shared", "a/b", "50 % more", "?x#y", "日本"]) {
    expect(placeOf(threadPath("langgraph:poet", threadName))).toEqual({
      agentId: "langgraph:poet",
      threadName,
    });
    expect(placeOf(threadPath("langgraph:poet", threadName, "account"))).toEqual({
      agentId: "langgraph:poet",
      threadName,
      visibility: "account",
    });
  }
  expect(placeOf(agentPath("langgraph:poet"))).toEqual({ agentId: "langgraph:poet", threadName: undefined });
});

it("finds no agent elsewhere, nor in an address that nobody could have written", () => {
  for (const pathname of ["/", "/crons", "/agents", "/agents/%"]) {
    expect(placeOf(pathname)).toEqual({ agentId: undefined, threadName: undefined });
  }
});
