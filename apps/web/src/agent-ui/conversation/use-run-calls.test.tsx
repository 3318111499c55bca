// @vitest-environment happy-dom
import type { AgentEvent } from "@throughline/agent-client";
import type { ReactNode } from "react";
import { expect, it } from "vitest";
import { openThread, runStarted } from "../../data/testing/open-thread";
import { useRunCalls, useToolCalls } from "./call-index";

/** A run, where the two ids are the same; else a tool call of it. */
const call = (runId: string, callId: string, status = "ok") => ({
  runId,
  callId,
  parentId: callId === runId ? null : runId,
  kind: callId === runId ? "run" : "tool",
  name: callId,
  attempt: 0,
  status,
  startedAt: 100,
  endedAt: 101,
});

function told(...calls: ReturnType<typeof call>[]): AgentEvent {
  return { type: "CUSTOM", name: "throughline.calls", value: { whole: false, calls } };
}

interface ShownProps {
  readonly id: string;
  readonly onRender: (id: string) => void;
}

function OfRun({ id, onRender }: ShownProps): ReactNode {
  const { calls } = useRunCalls(id);
  onRender(id);
  return <p id={id}>{calls.map(({ callId }) => callId).join()}</p>;
}

function OfTool({ id, onRender }: ShownProps): ReactNode {
  const { run } = useToolCalls(id);
  onRender(id);
  return <p id={id}>{run?.runId}</p>;
}

/** Shows the calls of three runs, and the run that made the tool call `ask`. */
async function openRuns() {
  const rendered: string[] = [];
  const onRender = (id: string) => rendered.push(id);
  const { place, tell } = await openThread(
    <>
      <OfRun id="r1" onRender={onRender} />
      <OfRun id="r2" onRender={onRender} />
      <OfRun id="r3" onRender={onRender} />
      <OfTool id="ask" onRender={onRender} />
    </>,
  );
  await tell(runStarted("r1"), told(call("r1", "r1"), call("r1", "ask"), call("r2", "r2")));
  return {
    tell,
    rendered: () => rendered.splice(0),
    text: (id: string) => place.querySelector(`#${id}`)?.textContent,
  };
}

it("renders, when a call changes, only what shows its run", async () => {
  const { tell, rendered, text } = await openRuns();
  rendered();
  await tell(told(call("r2", "look")));
  expect(rendered()).toEqual(["r2"]);
  expect(text("r2")).toBe("r2,look");
  await tell(told(call("r1", "r1", "error")));
  expect(rendered()).toEqual(["r1", "ask"]);
});

it("follows a tool call to the last run that made it", async () => {
  const { tell, text } = await openRuns();
  expect(text("ask")).toBe("r1");
  await tell(told(call("r3", "r3"), call("r3", "ask")));
  expect(text("ask")).toBe("r3");
});
