import { AbstractAgent, type BaseEvent, HttpAgent, type RunAgentInput } from "@ag-ui/client";
import {
  AbstractAgent as AbstractAgent1,
  type BaseEvent as BaseEvent1,
  type RunAgentInput as Input1,
} from "@ag-ui/client-1";
import fc from "fast-check";
import { from } from "rxjs";
import { describe, expect, it } from "vitest";
import { toLegacyEvents } from "./to-legacy-events.js";
import { toResume } from "./to-resume.js";
import { type ClientCompatibilityOptions, withClientCompatibility } from "./with-client-compatibility.js";

const HOTELS = {
  message: "Found 3 accommodation options in San Francisco.",
  options: [{ name: "Hotel Zephyr" }, { name: "Hotel Zoe" }],
  recommendation: { name: "Hotel Zoe" },
  agent: "hotels",
};
const INTERRUPT = {
  id: "i1",
  reason: "choice",
  message: HOTELS.message,
  metadata: { langgraph: { raw: HOTELS } },
};
const STARTED = { type: "RUN_STARTED", threadId: "t", runId: "r" };
const FINISHED = { type: "RUN_FINISHED", threadId: "t", runId: "r" };
const ASKS = [STARTED, { ...FINISHED, outcome: { type: "interrupt", interrupts: [INTERRUPT] } }];

/** What an agent was given, and what a client of its version made of what it said. */
interface Trial {
  readonly inputs: { resume?: unknown; forwardedProps?: unknown }[];
  readonly events: { type: string; value?: unknown; outcome?: unknown }[];
  run(forwardedProps?: object): Promise<void>;
}

function trial0(said: readonly object[], options?: ClientCompatibilityOptions): Trial {
  const inputs: RunAgentInput[] = [];
  class Agent extends AbstractAgent {
    override run(input: RunAgentInput) {
      inputs.push(input);
      return from(said as BaseEvent[]);
    }
  }
  const agent = withClientCompatibility(new Agent({ threadId: "t" }), options);
  const events: BaseEvent[] = [];
  agent.subscribe({ onEvent: ({ event }) => void events.push(event) });
  return {
    inputs,
    events,
    run: async (forwardedProps = {}) => void (await agent.runAgent({ forwardedProps })),
  };
}

function trial1(said: readonly object[], options?: ClientCompatibilityOptions): Trial {
  const inputs: Input1[] = [];
  class Agent extends AbstractAgent1 {
    override run(input: Input1) {
      inputs.push(input);
      return from(said as BaseEvent1[]);
    }
  }
  const agent = withClientCompatibility(new Agent({ threadId: "t" }), options);
  const events: BaseEvent1[] = [];
  agent.subscribe({ onEvent: ({ event }) => void events.push(event) });
  return {
    inputs,
    events,
    run: async (forwardedProps = {}) => void (await agent.runAgent({ forwardedProps })),
  };
}

describe.each([
  ["0.0.59", trial0],
  ["1.0.0", trial1],
])("an agent for older clients, by the client of AG-UI %s", (_, trialOf) => {
  it("asks with on_interrupt, whose value is JSON text, and then just finishes", async () => {
    const { events, run } = trialOf(ASKS);
    await run();
    expect(events.map(({ type }) => type)).toEqual(["RUN_STARTED", "CUSTOM", "RUN_FINISHED"]);
    expect(JSON.parse(String(events[1]?.value))).toEqual({ ...HOTELS, interruptId: "i1" });
    expect(events[2]?.outcome).toBeUndefined();
  });

  it("takes an answer as text or as an object, and the next run, without a complaint of the client", async () => {
    const { inputs, run } = trialOf(ASKS);
    await run();
    const zoe = { name: "Hotel Zoe" };
    await run({ command: { resume: JSON.stringify(zoe) }, theme: "dark" });
    expect(inputs[1]?.resume).toEqual([{ interruptId: "i1", status: "resolved", payload: zoe }]);
    expect(inputs[1]?.forwardedProps).toEqual({ theme: "dark" });
    await run({ command: { resume: zoe } });
    expect(inputs[2]?.resume).toEqual([{ interruptId: "i1", status: "resolved", payload: zoe }]);
    await run();
    expect(inputs[3]?.resume).toBeUndefined();
  });

  it("gives the value as an object, and the agent's own outcome, where the client takes them", async () => {
    const { events, run } = trialOf(ASKS, { value: "object", outcome: "keep" });
    await run();
    expect(events[1]?.value).toEqual({ ...HOTELS, interruptId: "i1" });
    expect(events[2]?.outcome).toEqual({ type: "interrupt", interrupts: [INTERRUPT] });
  });
});

describe("what is told of a question", () => {
  const told = (event: object) => toLegacyEvents({ ...event }, { value: "object", outcome: "name" });

  it("names the outcome alone where a client knows only its name", () => {
    expect(told({ ...FINISHED, outcome: { type: "interrupt", interrupts: [INTERRUPT] } })).toEqual([
      { type: "CUSTOM", name: "on_interrupt", value: { ...HOTELS, interruptId: "i1" } },
      { ...FINISHED, outcome: "interrupt" },
    ]);
  });

  it("reads the draft's one interrupt, and a question in plain words", () => {
    const [draft] = told({ ...FINISHED, outcome: "interrupt", interrupt: { id: "i2", payload: HOTELS } });
    expect(draft).toMatchObject({ value: { ...HOTELS, interruptId: "i2" } });
    const [plain] = told({
      ...FINISHED,
      outcome: { type: "interrupt", interrupts: [{ id: "i3", reason: "Why?" }] },
    });
    expect(plain).toMatchObject({
      value: { message: "Why?", options: [], recommendation: null, agent: null, interruptId: "i3" },
    });
  });

  it("leaves every other event the very same", () => {
    fc.assert(
      fc.property(fc.array(fc.object()), (events) => {
        const others = events.map((event) => ({ ...event, outcome: { type: "success" } }));
        const passed = others.flatMap((event) => toLegacyEvents(event, { value: "text", outcome: "omit" }));
        expect(passed.every((event, index) => event === others[index])).toBe(true);
        expect(passed).toHaveLength(others.length);
      }),
    );
  });
});

describe("what an answer becomes", () => {
  const answer = (command: object, pending: readonly string[] = []) =>
    toResume({ forwardedProps: { command } }, pending);
  const resolved = (interruptId: string, payload: unknown) => ({ interruptId, status: "resolved", payload });

  it("is for the question that was sent along, or that it names itself, or for all that wait", () => {
    const interruptEvent = JSON.stringify({ ...HOTELS, interruptId: "i1" });
    expect(answer({ resume: "yes", interruptEvent }, ["i9"]).resume).toEqual([resolved("i1", "yes")]);
    expect(answer({ resume: { interruptId: "i2", name: "Zoe" } }).resume).toEqual([
      resolved("i2", { name: "Zoe" }),
    ]);
    expect(answer({ resume: "42" }, ["i3", "i4"]).resume).toEqual([
      resolved("i3", "42"),
      resolved("i4", "42"),
    ]);
  });

  it("stays a command where nothing says which question it answers, or the client answered itself", () => {
    const unknown = { forwardedProps: { command: { resume: "yes" } } };
    expect(toResume(unknown, [])).toBe(unknown);
    const both = { ...unknown, resume: [resolved("i1", "no")] };
    expect(toResume(both, ["i1"])).toBe(both);
  });

  it("leaves an input without one the very same", () => {
    fc.assert(
      fc.property(fc.object(), (forwardedProps) => {
        const input = { forwardedProps, messages: [] };
        fc.pre(!("command" in forwardedProps));
        expect(toResume(input, ["i1"])).toBe(input);
      }),
    );
  });
});

describe("the wrapped agent", () => {
  it("is of the agent's class, keeps what it holds, and its clones are wrapped once", async () => {
    const plain = new HttpAgent({ url: "http://localhost:1/agent", headers: { a: "b" }, threadId: "t" });
    const wrapped = withClientCompatibility(plain);
    const again = wrapped.clone().clone();
    for (const agent of [wrapped, again]) {
      expect(agent).toBeInstanceOf(HttpAgent);
      expect(agent).toMatchObject({ url: "http://localhost:1/agent", headers: { a: "b" }, threadId: "t" });
      expect(agent.run).not.toBe(plain.run);
    }
    expect(again.run).toBe(wrapped.run);
    expect(plain.run).toBe(HttpAgent.prototype.run);
  });

  it("wraps the clones of classes that clone by new", async () => {
    class Fresh extends AbstractAgent {
      override run() {
        return from(ASKS as BaseEvent[]);
      }
      override clone() {
        return new Fresh({ threadId: "t" });
      }
    }
    const events: string[] = [];
    const agent = withClientCompatibility(new Fresh({ threadId: "t" })).clone();
    await agent.runAgent({}, { onEvent: ({ event }) => void events.push(event.type) });
    expect(events).toEqual(["RUN_STARTED", "CUSTOM", "RUN_FINISHED"]);
  });
});
