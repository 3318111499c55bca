import { systemClock } from "@throughline/ai-core";
import { afterEach, describe, expect, it } from "vitest";
import { createServerClient, type ServerEvent } from "./client.js";
import { type FollowEnd, followRun } from "./follow-run.js";

import {
  type ScriptedUpstream,
  type StreamScript,
  startScriptedUpstream,
  type UpstreamScript,
} from "./testing/scripted-upstream.js";

const PATIENCE = { idleMs: 80, probeMs: 40, lostAfterMs: 300, cancelMs: 200 };

let upstream: ScriptedUpstream | undefined;
afterEach(async () => {
  await upstream?.close();
  upstream = undefined;
});

interface Followed {
  readonly ids: readonly (string | undefined)[];
  readonly end: FollowEnd;
}

async function follow(
  script: UpstreamScript,
  signals: { readonly stop?: AbortSignal; readonly leave?: AbortSignal } = {},
  onEvent: (event: ServerEvent) => void = () => {},
): Promise<Followed> {
  upstream = await startScriptedUpstream(script);
  const never = new AbortController().signal;
  const events = followRun(
    { threadId: "t", upstreamRunId: "r" },
    {
      client: createServerClient({ url: upstream.url }),
      clock: systemClock,
      patience: PATIENCE,
      stop: signals.stop ?? never,
      leave: signals.leave ?? never,
    },
  );
  const ids: (string | undefined)[] = [];
  for (;;) {
    const step = await events.next();
    if (step.done) return { ids, end: step.value };
    ids.push(step.value.id);
    onEvent(step.value);
  }
}

/** A log of a run that ends well; `c1` is its last checkpoint. */
const LOG: StreamScript["events"] = [
  [0, "metadata", { run_id: "r", attempt: 1 }],
  [1, "tasks", { id: "task", name: "work", triggers: [] }],
  [2, "custom", { number: 1 }],
  [3, "custom", { number: 2 }],
  [4, "tasks", { id: "task", name: "work", result: {}, interrupts: [] }],
  [5, "checkpoints", { id: "c1" }],
  [6, "values", {}],
];
const ALL = ["0", "1", "2", "3", "4", "5", "6"];
const after = (lastEventId: string, events = LOG) => events.slice(Number(lastEventId) + 1);

describe("following a run", () => {
  it("ends at the last checkpoint, though the server keeps the stream open", async () => {
    const { ids, end } = await follow({
      status: () => "success",
      checkpointId: () => "c1",
      join: (id) => ({ events: after(id), ending: "stay" }),
    });
    expect(ids).toEqual(ALL);
    expect(end).toMatchObject({ kind: "ended", run: { status: "success" }, state: { checkpoint: {} } });
  });

  it("ends at the end of the graph's own run, where that is the last of its events", async () => {
    const events: StreamScript["events"] = [...LOG, [7, "events", { event: "on_chain_end", metadata: {} }]];
    const { end } = await follow({
      status: () => "success",
      checkpointId: () => "c1",
      join: (id) => ({ events: after(id, events), ending: "stay" }),
    });
    expect(end).toMatchObject({ kind: "ended", state: { checkpoint: {} } });
  });

  it("does not blame the input for a failure after events of a node", async () => {
    const events: StreamScript["events"] = [
      [0, "metadata", { run_id: "r", attempt: 1 }],
      [1, "events", { event: "on_chain_start", metadata: { langgraph_node: "work" } }],
      [2, "error", { error: "TypeError" }],
    ];
    const { end } = await follow({
      status: () => "error",
      join: (id) => ({ events: after(id, events), ending: "close" }),
    });
    expect(end).toMatchObject({ kind: "ended", sign: { kind: "error", onInput: false } });
  });

  it("comes back after each cut to where it was", async () => {
    const { ids, end } = await follow({
      status: () => "running",
      checkpointId: () => "c1",
      join: (id, joins) =>
        joins < 6
          ? { events: after(id).slice(0, 2), ending: "cut" }
          : { events: [...after(id), [undefined, "error", "Run not found"]], ending: "close" },
    });
    expect(ids).toEqual(ALL);
    expect(end).toEqual({ kind: "gone" });
  });

  it("does not believe a close in the middle of a run", async () => {
    let joins = 0;
    const { ids, end } = await follow({
      status: () => (joins < 3 ? "running" : "success"),
      join(id) {
        joins++;
        return { events: after(id).slice(0, 3), ending: "close" };
      },
    });
    expect(ids).toEqual(ALL);
    expect(end.kind).toBe("ended");
  });

  it("does not believe the first close after which the run is over, if its end was not in sight", async () => {
    const { ids } = await follow({
      status: () => "success",
      join: (id, joins) => ({ events: joins === 1 ? after(id).slice(0, 3) : after(id), ending: "close" }),
    });
    expect(ids).toEqual(ALL);
  });

  it("takes a stream anew that fell silent, as often as it takes, and reads on", async () => {
    let joins = 0;
    const failure = [7, "error", { error: "Error", message: "" }] as const;
    const { ids, end } = await follow({
      status: () => (joins < 4 ? "running" : "error"),
      join(id) {
        joins++;
        return { events: joins < 4 ? after(id).slice(0, 4) : after(id, [...LOG, failure]), ending: "stay" };
      },
    });
    expect(ids).toEqual([...ALL, "7"]);
    expect(end).toMatchObject({ kind: "ended", sign: { kind: "error", onInput: false } });
  });

  it("waits for a run that is pending, however long it takes", async () => {
    let asked = 0;
    const { end } = await follow({
      status: () => (++asked < 12 ? "pending" : "interrupted"),
      join: () => ({ events: [], ending: "stay" }),
    });
    expect(asked).toBeGreaterThanOrEqual(12);
    expect(end).toMatchObject({ kind: "ended", run: { status: "interrupted" } });
  });

  it("gives up a run that is said to run and has no log", async () => {
    const { end } = await follow({
      status: () => "running",
      join: () => ({ events: [], ending: "stay" }),
    });
    expect(end).toEqual({ kind: "dead" });
  });

  it("gives up a run whose log is gone, and sooner", async () => {
    const { ids, end } = await follow({
      status: () => "running",
      join: (id, joins) =>
        joins === 1 ? { events: after(id).slice(0, 4), ending: "cut" } : { events: [], ending: "stay" },
    });
    expect(ids).toEqual(["0", "1", "2", "3"]);
    expect(end).toEqual({ kind: "dead" });
  });

  it("notices a run that was begun anew", async () => {
    const anew = LOG.map(([id, event]) => [id, event, "another"] as const);
    const { ids, end } = await follow({
      status: () => "running",
      join: (id, joins) =>
        joins === 1
          ? { events: after(id).slice(0, 4), ending: "cut" }
          : { events: after(id, anew), ending: "stay" },
    });
    expect(ids).toEqual(["0", "1", "2", "3"]);
    expect(end).toEqual({ kind: "restarted" });
  });

  it("gives up a server that answers nobody", async () => {
    const { end } = await follow({
      status: () => "running",
      join: () => ({ events: [], ending: { status: 503 } }),
    });
    expect(end).toEqual({ kind: "unreachable" });
  });

  it("ends at once when it is refused", async () => {
    const { end } = await follow({
      status: () => "running",
      join: () => ({ events: [], ending: { status: 401 } }),
    });
    expect(end).toMatchObject({ kind: "refused", error: { status: 401 } });
    expect(upstream?.requests).toHaveLength(1);
  });

  it("cancels once, without waiting, and ends when the record says so", async () => {
    const stop = new AbortController();
    let status = "running";
    const { end } = await follow(
      {
        status: () => status,
        join: (id) => ({ events: after(id).slice(0, 4), ending: "stay" }),
        onCancel() {
          status = "interrupted";
        },
      },
      { stop: stop.signal },
      ({ id }) => {
        if (id === "3") stop.abort();
      },
    );
    expect(end).toMatchObject({ kind: "ended", run: { status: "interrupted" } });
    expect(upstream?.requests.filter((request) => request.startsWith("POST"))).toEqual([
      "POST /threads/t/runs/r/cancel?action=interrupt",
    ]);
  });

  it("gives up waiting for a run that does not stop", async () => {
    const { end } = await follow(
      { status: () => "running", join: (id) => ({ events: after(id).slice(0, 4), ending: "stay" }) },
      { stop: AbortSignal.abort() },
    );
    expect(end).toEqual({ kind: "unstoppable" });
  });

  it("leaves a run alone when told to", async () => {
    const leave = new AbortController();
    const { end } = await follow(
      { status: () => "running", join: (id) => ({ events: after(id).slice(0, 4), ending: "stay" }) },
      { leave: leave.signal },
      ({ id }) => {
        if (id === "3") leave.abort();
      },
    );
    expect(end).toEqual({ kind: "left" });
    // A stream that is silent for a while makes it ask for the run; it never cancels it.
    expect(upstream?.requests.filter((request) => request.startsWith("POST"))).toEqual([]);
  });
});
