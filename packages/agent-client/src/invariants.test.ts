import { describe, expect, it } from "vitest";
import type { Command } from "./commands/command.js";
import { transitionScheduler } from "./commands/scheduler.js";
import {
  DEFAULT_COMMAND_POLICY,
  idleScheduler,
  needsStream,
  type SchedulerEffect,
  type SchedulerInput,
  type SchedulerState,
} from "./commands/scheduler-state.js";
import { idlePoller, transitionPoller } from "./polling/agent-status-poller.js";
import {
  emptyProjection,
  type Projection,
  type ProjectionInput,
  project,
} from "./projection/agent-projection-reducer.js";
import { createModelWorld } from "./testing/model-world.js";
import { createHttpService } from "./transport/http-agent-service.js";
import type { AgUiFrame } from "./wire/agent-event.js";

type World = ReturnType<typeof createModelWorld>;

/** Everything that is on its way arrives, until nothing is. */
async function settle({ network }: World): Promise<void> {
  const breathe = () => new Promise((resolve) => setImmediate(resolve));
  await breathe();
  while (network.settle()) await breathe();
}

async function openPage() {
  const world = createModelWorld(1);
  const [page] = world.pages;
  if (!page) throw new Error("a world of one page has one");
  await settle(world);
  return { world, page };
}

function steps(...inputs: readonly SchedulerInput[]): {
  readonly state: SchedulerState;
  readonly effects: readonly SchedulerEffect[];
} {
  let state = idleScheduler;
  const effects: SchedulerEffect[] = [];
  for (const input of inputs) {
    const [next, more] = transitionScheduler(state, input);
    state = next;
    effects.push(...more);
  }
  return { state, effects };
}

function sent(effects: readonly SchedulerEffect[]): readonly string[] {
  return effects.flatMap((effect) => (effect.kind === "send" ? [effect.command.id] : []));
}

function outcomeOf(effects: readonly SchedulerEffect[], id: string) {
  return effects.flatMap((effect) => (effect.kind === "settle" && effect.id === id ? [effect.outcome] : []));
}

function submit(command: Command): SchedulerInput {
  return { kind: "submit", command };
}
function sync(id: string): SchedulerInput {
  return submit({ kind: "sync", id, input: { state: { wish: id } } });
}
function running(runId: string): SchedulerInput {
  return { kind: "observed", observed: { kind: "running", runId } };
}
const idle: SchedulerInput = { kind: "observed", observed: { kind: "idle" } };
const moment = { now: 0, random: () => 0.5 };

function shows(state: string): AgUiFrame {
  return { event: { type: "STATE_SNAPSHOT", snapshot: { by: state } } };
}

function projected(...inputs: readonly ProjectionInput[]): Projection {
  return inputs.reduce((now, input) => project(now, input)[0], emptyProjection);
}

// Invariant N is docs/requirements.md#client-N.
describe("the twelve invariants", () => {
  it("Invariant 1: everything a page asks goes to the CopilotKit routes: follow, run and stop", async () => {
    const asked: string[] = [];
    const service = createHttpService({
      url: "/api/copilotkit",
      fetch: async (input) => {
        asked.push(String(input));
        return new Response(null, { status: 204 });
      },
    });
    const thread = { agentId: "agent", threadId: "thread" };
    const nothing = { tools: [], context: [] };
    const sink = { opened() {}, received() {}, events() {}, ended() {} };
    const { signal } = new AbortController();
    await service.follow([{ ...thread, view: "ag-ui", cursor: undefined }], signal, sink);
    await service.send(thread, { kind: "fire", id: "f", input: {} }, nothing);
    await service.poll(thread, undefined);
    await service.stop(thread, "f");
    expect(asked).toEqual([
      "/api/copilotkit/follow",
      "/api/copilotkit/agent/agent/run",
      "/api/copilotkit/agent/agent/run",
      "/api/copilotkit/agent/agent/stop/thread",
    ]);
  });

  it("Invariant 2: a wish for the state goes with a run; connecting writes nothing", async () => {
    const { world, page } = await openPage();
    expect(world.network.asked).toEqual(["follow"]);
    expect(world.thread.frames).toEqual([]);
    page.submit("sync");
    await settle(world);
    world.thread.finish();
    const id = page.submitted[0]?.command.id;
    expect(world.thread.state()).toEqual({ wish: id, lastAppliedClientMutationId: id });
  });

  it("Invariant 3: a page has one stream, and leaving it ends that stream", async () => {
    const { world, page } = await openPage();
    page.reopen();
    page.submit("run");
    await settle(world);
    expect(world.network.streams()).toBe(1);
    world.thread.finish();
    await settle(world);
    page.close();
    await settle(world);
    expect(world.network.streams()).toBe(0);
    expect(page.line().status()).toEqual({ kind: "closed" });
  });

  it("Invariant 4: whoever is not open is polled with one-shot questions, and never by a stream", async () => {
    const [now, effects] = transitionPoller(idlePoller, { kind: "watch", keys: ["a", "b"] }, moment);
    expect(effects.filter(({ kind }) => kind === "poll")).toHaveLength(2);
    const [, closed] = transitionPoller(now, { kind: "open", keys: ["a"] }, { ...moment, now: 60_000 });
    expect(closed.flatMap((effect) => (effect.kind === "poll" ? [effect.key] : []))).not.toContain("a");
    const { world, page } = await openPage();
    page.close();
    await settle(world);
    const before = world.network.asked.length;
    const polled = page.line().poll();
    await settle(world);
    expect(await polled).toBe(true);
    expect(world.network.asked.slice(before)).toEqual(["poll"]);
    expect(world.network.streams()).toBe(0);
  });

  it("Invariant 5: one stream at a time may write what is shown, and the open page's goes before a poll's", () => {
    const poll = { source: "poll", epoch: 1 } as const;
    const page = { source: "detail-connect", epoch: 2 } as const;
    const shown = projected(
      { kind: "claim", source: "poll" },
      { kind: "claim", source: "detail-connect" },
      { kind: "frames", authority: page, frames: [shows("page")] },
      { kind: "frames", authority: poll, frames: [shows("poll")] },
      { kind: "claim", source: "poll" },
    );
    expect(shown.authority).toEqual(page);
    expect(shown.view.state).toEqual({ by: "page" });
  });

  it("Invariant 5: a command without a page has the thread's own stream as its authority until it is over", async () => {
    const { world, page } = await openPage();
    page.close();
    await settle(world);
    expect(page.line().projection().authority).toBeUndefined();
    page.submit("run");
    await settle(world);
    expect(page.line().projection().authority?.source).toBe("detail-connect");
    expect(await page.line().poll()).toBe(true);
    expect(page.line().projection().authority?.source).toBe("detail-connect");
    world.thread.finish();
    await settle(world);
    expect(page.line().view().run?.runId).toBe(page.submitted[0]?.command.id);
    expect(page.line().projection().authority).toBeUndefined();
  });

  it("Invariant 6: what this client sees is advice: it asks the service whether the thread is free", () => {
    const asks = submit({ kind: "run", id: "r", input: {}, busy: { kind: "reject" } });
    expect(sent(steps(running("somebody"), asks).effects)).toEqual(["r"]);
    const waiting: readonly SchedulerInput[] = [running("never ends"), sync("m")];
    expect(sent(steps(...waiting).effects)).toEqual([]);
    expect(sent(steps(...waiting, { kind: "due", timer: "ask" }).effects)).toEqual(["m"]);
  });

  it("Invariant 7: busy is an outcome that names the run in the way, and leads to watching it", () => {
    const busy: SchedulerInput = {
      kind: "answered",
      id: "r",
      ack: { kind: "busy", runId: "cron", retryAfterMs: undefined },
    };
    const rejects = submit({ kind: "run", id: "r", input: {}, busy: { kind: "reject" } });
    expect(outcomeOf(steps(rejects, busy).effects, "r")).toEqual([{ kind: "busy", runId: "cron" }]);
    const queues = submit({ kind: "run", id: "r", input: {}, busy: { kind: "queue" } });
    const { effects, state } = steps(queues, busy);
    expect(needsStream(state)).toBe(true);
    expect(outcomeOf(effects, "r")).toEqual([]);
    expect(sent(steps(queues, busy, idle).effects)).toEqual(["r", "r"]);
  });

  it("Invariant 8: one sync waits, the latest; it goes when the run has ended, and asks again within bounds", () => {
    const { effects, state } = steps(running("cron"), sync("m1"), sync("m2"), sync("m3"));
    expect(sent(effects)).toEqual([]);
    expect(state.sync?.id).toBe("m3");
    expect(sent(steps(running("cron"), sync("m1"), sync("m2"), idle).effects)).toEqual(["m2"]);
    const others = ["x1", "x2", "x3", "x4"].flatMap((runId): SchedulerInput[] => [
      { kind: "answered", id: "m", ack: { kind: "busy", runId, retryAfterMs: undefined } },
      { kind: "due", timer: "send" },
    ]);
    const bounded = steps(sync("m"), ...others);
    expect(sent(bounded.effects)).toHaveLength(1 + DEFAULT_COMMAND_POLICY.syncRetries);
    expect(outcomeOf(bounded.effects, "m")).toEqual([{ kind: "busy", runId: "x4" }]);
  });

  it("Invariant 9: fire alone preempts: it stops what runs, waits for its end or a bound, then goes", () => {
    const fire = submit({ kind: "fire", id: "f", input: {} });
    const waiting = steps(running("cron"), fire);
    expect(waiting.effects).toContainEqual({ kind: "stop-run", runId: "cron" });
    expect(sent(waiting.effects)).toEqual([]);
    expect(sent(steps(running("cron"), fire, idle).effects)).toEqual(["f"]);
    expect(sent(steps(running("cron"), fire, { kind: "due", timer: "stop" }).effects)).toEqual(["f"]);
    const others = steps(
      running("cron"),
      sync("m"),
      submit({ kind: "run", id: "r", input: {}, busy: { kind: "reject" } }),
    );
    expect(others.effects.filter(({ kind }) => kind === "stop-run")).toEqual([]);
  });

  it("Invariant 10: a sync is confirmed when the state names it, not when its run was accepted or ended", () => {
    const accepted: SchedulerInput = { kind: "answered", id: "m", ack: { kind: "accepted" } };
    const ended: SchedulerInput = { kind: "ended", id: "m", status: "success" };
    const before = steps(sync("m"), accepted, running("m"), ended, idle);
    expect(outcomeOf(before.effects, "m")).toEqual([]);
    const other: SchedulerInput = { kind: "confirmed", id: "another" };
    expect(outcomeOf(steps(sync("m"), accepted, other).effects, "m")).toEqual([]);
    const confirmed = steps(sync("m"), accepted, ended, { kind: "confirmed", id: "m" });
    expect(outcomeOf(confirmed.effects, "m")).toEqual([{ kind: "confirmed" }]);
    const silent = steps(sync("m"), accepted, ended, { kind: "due", timer: "confirm" });
    expect(outcomeOf(silent.effects, "m")).toEqual([{ kind: "unconfirmed" }]);
  });

  it("Invariant 11: what is asked is no part of what is shown", async () => {
    const { world, page } = await openPage();
    world.thread.startElsewhere();
    await settle(world);
    const { state } = page.line().view();
    page.submit("sync");
    await settle(world);
    expect(page.line().pending().sync).toBe(true);
    expect(page.line().view().state).toBe(state);
  });

  it("Invariant 12: frames of a stream that was replaced, and frames that come twice, change nothing", () => {
    const old = { source: "detail-connect", epoch: 1 } as const;
    const now = { source: "detail-connect", epoch: 2 } as const;
    const once = projected(
      { kind: "claim", source: "detail-connect" },
      { kind: "claim", source: "detail-connect" },
      { kind: "frames", authority: now, frames: [{ id: "1", ...shows("now") }] },
    );
    const late: ProjectionInput = { kind: "frames", authority: old, frames: [shows("old")] };
    expect(project(once, late)).toEqual([once, [{ kind: "stale", count: 1 }]]);
    const twice: ProjectionInput = {
      kind: "frames",
      authority: now,
      frames: [{ id: "1", ...shows("twice") }],
    };
    const [after, effects] = project(once, twice);
    expect(after.view).toBe(once.view);
    expect(effects).toEqual([{ kind: "duplicate", count: 1 }]);
  });
});
