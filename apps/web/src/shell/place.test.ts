import { expect, it } from "vitest";
import { agentPath, parseRoute, threadPath } from "./routes";

it("reads the addresses that the console writes, whatever a thread is called", () => {
  for (const threadName of ["tides", "shared", "a/b", "50 % more", "?x#y", "日本"]) {
    expect(parseRoute(threadPath("langgraph:poet", threadName))).toEqual({
      agentId: "langgraph:poet",
      threadName,
    });
    expect(parseRoute(threadPath("langgraph:poet", threadName, "account"))).toEqual({
      agentId: "langgraph:poet",
      threadName,
      visibility: "account",
    });
  }
  expect(parseRoute(agentPath("langgraph:poet"))).toEqual({
    agentId: "langgraph:poet",
    threadName: undefined,
  });
});

it("finds no agent elsewhere, nor in an address that nobody could have written", () => {
  for (const pathname of ["/", "/crons", "/agents", "/agents/%"]) {
    expect(parseRoute(pathname)).toEqual({ agentId: undefined, threadName: undefined });
  }
});
