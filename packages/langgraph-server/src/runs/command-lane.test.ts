import { describe, expect, it } from "vitest";
import { laneOf } from "./commands.js";

const agent = { graphId: "langgraph:sentinel", commands: ["cycle", "sync", "fire"] };
const chat = { graphId: "langgraph:chat", commands: [] };

describe("A request", () => {
  it("without a command is a run, rejected when busy unless it says otherwise", () => {
    expect(laneOf(chat, {})).toEqual({ kind: "run", command: undefined, strategy: "reject" });
    expect(laneOf(chat, { strategy: "preempt" })).toMatchObject({ strategy: "preempt" });
  });

  it("P55: with fire preempts, and no other command may", () => {
    expect(laneOf(agent, { command: { name: "fire" } })).toMatchObject({ strategy: "preempt" });
    expect(laneOf(agent, { command: { name: "fire" }, strategy: "reject" })).toMatchObject({
      strategy: "reject",
    });
    expect(() => laneOf(agent, { command: { name: "sync" }, strategy: "preempt" })).toThrow(
      expect.objectContaining({
        code: "invalid_input",
        details: { field: "forwardedProps.throughline.strategy" },
      }),
    );
  });

  it("with sync or a command of the agent's own is rejected when busy, or waits if it asks to", () => {
    for (const name of ["sync", "cycle"]) {
      expect(laneOf(agent, { command: { name } })).toMatchObject({ kind: "run", strategy: "reject" });
      expect(laneOf(agent, { command: { name }, strategy: "enqueue" })).toMatchObject({
        command: { name },
        strategy: "enqueue",
      });
    }
  });

  it("with poll or stop is no run, whatever the agent", () => {
    expect(laneOf(chat, { command: { name: "poll" } })).toEqual({ kind: "poll" });
    expect(laneOf(chat, { command: { name: "stop" } })).toEqual({ kind: "stop", runId: undefined });
    expect(laneOf(chat, { command: { name: "stop", args: { runId: "r1" } } })).toMatchObject({ runId: "r1" });
    expect(() => laneOf(chat, { command: { name: "stop", args: { runId: 7 } } })).toThrow(/args\.runId/);
    expect(laneOf(chat, { command: { name: "ask_again" } })).toEqual({ kind: "ask_again" });
  });

  it("P53: with a command the agent does not have is refused, and told those it has", () => {
    expect(() => laneOf(agent, { command: { name: "hier" } })).toThrow(
      expect.objectContaining({
        code: "invalid_input",
        message:
          'forwardedProps.throughline.command.name: langgraph:sentinel has no command "hier". It has: cycle, sync, fire, poll, stop, ask_again.',
        details: {
          field: "forwardedProps.throughline.command.name",
          known: ["cycle", "sync", "fire", "poll", "stop", "ask_again"],
        },
      }),
    );
    expect(() => laneOf(chat, { command: { name: "sync" } })).toThrow("It has: poll, stop, ask_again.");
  });
});
