import { AbstractAgent, type BaseEvent, type RunAgentInput } from "@ag-ui/client";
import { from, NEVER, type Observable, throwError } from "rxjs";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type ClientCompatibilityOptions, withClientCompatibility } from "./with-client-compatibility.js";

/** What outlives a process: the thread's open interrupt, and what runs were given. */
interface Backend {
  open: string | undefined;
  readonly inputs: RunAgentInput[];
  connects: number;
}

const newBackend = (): Backend => ({ open: undefined, inputs: [], connects: 0 });
const eventsOf = (open: string | undefined) =>
  from([
    { type: "RUN_STARTED", threadId: "t", runId: "r" },
    {
      type: "RUN_FINISHED",
      threadId: "t",
      runId: "r",
      ...(open && { outcome: { type: "interrupt", interrupts: [{ id: open, reason: "choice" }] } }),
    },
  ] as BaseEvent[]);

/** The agent of one process: a new one remembers nothing. */
function startProcess(
  backend: Backend,
  options?: ClientCompatibilityOptions,
  reread: (open: string | undefined) => Observable<BaseEvent> = eventsOf,
) {
  class Agent extends AbstractAgent {
    override run(input: RunAgentInput) {
      backend.inputs.push(input);
      backend.open = input.resume ? undefined : "i1";
      return eventsOf(backend.open);
    }
    protected override connect() {
      backend.connects++;
      return reread(backend.open);
    }
  }
  const agent = withClientCompatibility(new Agent({ threadId: "t" }), options);
  const events: BaseEvent[] = [];
  agent.subscribe({ onEvent: ({ event }) => void events.push(event) });
  const answer = (resume: unknown) => agent.runAgent({ forwardedProps: { command: { resume } } });
  return { agent, events, answer };
}

const answered = [{ interruptId: "i1", status: "resolved", payload: "Hotel Zoe" }];
afterEach(() => void vi.useRealTimers());

describe("an answer that names no interrupt", () => {
  it("goes to the interrupt that the thread waits for, also after the process was restarted", async () => {
    const backend = newBackend();
    await startProcess(backend).agent.runAgent();
    const restarted = startProcess(backend);
    await restarted.answer("Hotel Zoe");
    expect(backend.inputs.at(-1)?.resume).toEqual(answered);
    expect(backend.connects).toBe(1);
    expect(restarted.events.map(({ type }) => type)).toEqual(["RUN_STARTED", "RUN_FINISHED"]);
  });

  it("is not looked up where the process remembers", async () => {
    const backend = newBackend();
    const { agent, answer } = startProcess(backend);
    await agent.runAgent();
    await answer("Hotel Zoe");
    expect(backend.inputs.at(-1)?.resume).toEqual(answered);
    expect(backend.connects).toBe(0);
  });

  it.each([
    ["the agent has no connect()", () => throwError(() => new Error("Connect not implemented."))],
    ["nothing is open", () => eventsOf(undefined)],
    ["the stream ends without a terminal", () => from([])],
  ])("fails visibly, and starts no run, where %s", async (_, reread) => {
    const backend = newBackend();
    const { events, answer } = startProcess(backend, {}, reread);
    await answer("Hotel Zoe").catch(() => undefined);
    expect(backend.inputs).toEqual([]);
    expect(events).toMatchObject([{ type: "RUN_ERROR", code: "INTERRUPT_UNKNOWN" }]);
    expect(JSON.stringify(events)).toContain("Send interruptId with the answer");
  });

  it("fails after ten seconds where another run keeps the thread's stream open", async () => {
    vi.useFakeTimers();
    const backend = newBackend();
    const { events, answer } = startProcess(backend, {}, () => NEVER);
    const over = answer("Hotel Zoe").catch(() => undefined);
    await vi.advanceTimersByTimeAsync(10_000);
    await over;
    expect(events).toMatchObject([{ type: "RUN_ERROR", code: "INTERRUPT_UNKNOWN" }]);
  });

  it("is passed on unchanged to an agent that reads it itself", async () => {
    const backend = newBackend();
    await startProcess(backend, { unnamed: "forward" }).answer("Hotel Zoe");
    expect(backend.inputs).toMatchObject([{ forwardedProps: { command: { resume: "Hotel Zoe" } } }]);
    expect(backend.connects).toBe(0);
  });
});
