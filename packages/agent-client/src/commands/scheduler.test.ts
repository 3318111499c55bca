import { describe, expect, it } from "vitest";
import type { BusyPolicy, Command, CommandAck, ScheduledOutcome } from "./command.js";
import { transitionScheduler } from "./scheduler.js";
import {
  idleScheduler,
  DEFAULT_COMMAND_POLICY as POLICY,
  type SchedulerEffect,
  type SchedulerInput,
  type SchedulerState,
  type TimerName,
} from "./scheduler-state.js";

/** A scheduler under test. Timers are kept as the shell keeps them: one of each name. */
function lanes(policy = POLICY) {
  let state: SchedulerState = idleScheduler;
  let effects: readonly SchedulerEffect[] = [];
  const outcomes = new Map<string, ScheduledOutcome>();
  const timers = new Map<TimerName, number>();
  const persisted: (string | undefined)[] = [];
  return {
    take(input: SchedulerInput) {
      [state, effects] = transitionScheduler(state, input, policy);
      for (const effect of effects) {
        if (effect.kind === "settle") {
          expect(outcomes.has(effect.id)).toBe(false);
          outcomes.set(effect.id, effect.outcome);
        }
        if (effect.kind === "persist") persisted.push(effect.sync?.id);
        if (effect.kind !== "timer") continue;
        if (effect.afterMs === undefined) timers.delete(effect.name);
        else timers.set(effect.name, effect.afterMs);
      }
      return this;
    },
    submit(command: Command) {
      return this.take({ kind: "submit", command });
    },
    answer(id: string, answer: CommandAck) {
      return this.take({ kind: "answered", id, ack: answer });
    },
    ended(id: string, status: "success" | "cancelled" = "success") {
      return this.take({ kind: "ended", id, status }).idle();
    },
    /** The service takes every stop that was sent. */
    received() {
      for (const runId of state.preemption?.unheard ?? [])
        this.take({ kind: "stop-answered", runId, ok: true });
      return this;
    },
    running(runId: string | undefined) {
      return this.take({ kind: "observed", observed: { kind: "running", runId } });
    },
    idle() {
      const sent = this.sent();
      this.take({ kind: "observed", observed: { kind: "idle" } });
      effects = [...sent.map((command) => ({ kind: "send" as const, command })), ...effects];
      return this;
    },
    due(timer: TimerName) {
      expect(timers.has(timer)).toBe(true);
      timers.delete(timer);
      return this.take({ kind: "due", timer });
    },
    sent: () => effects.flatMap((effect) => (effect.kind === "send" ? [effect.command] : [])),
    sentIds() {
      return this.sent().map(({ id }) => id);
    },
    stops: () => effects.flatMap((effect) => (effect.kind === "stop-run" ? [effect.runId] : [])),
    outcome: (id: string) => outcomes.get(id),
    timer: (name: TimerName) => timers.get(name),
    persisted,
    get state() {
      return state;
    },
  };
}

const ACCEPTED: CommandAck = { kind: "accepted" };
const UNREACHABLE: CommandAck = { kind: "unreachable" };
function busy(runId?: string, retryAfterMs?: number): CommandAck {
  return { kind: "busy", runId, retryAfterMs };
}
function run(id: string, policy: BusyPolicy = { kind: "reject" }): Command {
  return { kind: "run", id, input: {}, busy: policy };
}
function sync(id: string): Command {
  return { kind: "sync", id, input: { state: { wish: id } } };
}
function fire(id: string): Command {
  return { kind: "fire", id, input: {} };
}
function stop(id: string): Command {
  return { kind: "stop", id };
}

describe("run", () => {
  it("is sent at once and settled by the end of its run", () => {
    const one = lanes().submit(run("a"));
    expect(one.sentIds()).toEqual(["a"]);
    one.answer("a", ACCEPTED).ended("a", "cancelled");
    expect(one.outcome("a")).toEqual({ kind: "done", status: "cancelled" });
  });

  it("is settled by an end that came before its answer", () => {
    const one = lanes().submit(run("a")).ended("a").answer("a", ACCEPTED);
    expect(one.outcome("a")).toEqual({ kind: "done", status: "success" });
    expect(one.state).toEqual(idleScheduler);
  });

  it("asks the service even when another run is seen: what is seen may be old", () => {
    const one = lanes().running("cron").submit(run("a"));
    expect(one.sentIds()).toEqual(["a"]);
    one.answer("a", busy("cron"));
    expect(one.outcome("a")).toEqual({ kind: "busy", runId: "cron" });
  });

  it("that rejects is busy without asking while this client itself has something under way", () => {
    const one = lanes().submit(run("a")).submit(run("b"));
    expect(one.sentIds()).toEqual([]);
    expect(one.outcome("b")).toEqual({ kind: "busy", runId: "a" });
  });

  it("that rejects does not stand in line behind one that waits", () => {
    const one = lanes()
      .running("cron")
      .submit(run("a", { kind: "queue" }))
      .submit(run("b"));
    expect(one.outcome("b")).toEqual({ kind: "busy", runId: undefined });
  });

  it("that retries asks as often as it may, as far apart as the service wishes", () => {
    const one = lanes().submit(run("a", { kind: "retry", times: 2, delayMs: 100 }));
    one.answer("a", busy("x", 700));
    expect(one.timer("send")).toBe(700);
    expect(one.due("send").sentIds()).toEqual(["a"]);
    one.answer("a", busy("x"));
    expect(one.timer("send")).toBe(100);
    one.due("send").answer("a", busy("x"));
    expect(one.outcome("a")).toEqual({ kind: "busy", runId: "x" });
  });

  it("that was refused as busy is sent again as soon as the thread is seen free", () => {
    const one = lanes()
      .submit(run("a", { kind: "retry", times: 3, delayMs: 100 }))
      .answer("a", busy("x"));
    expect(one.ended("x").sentIds()).toEqual(["a"]);
    expect(one.timer("send")).toBeUndefined();
  });

  it("that queues waits for its turn, in order", () => {
    const one = lanes()
      .running("cron")
      .submit(run("a", { kind: "queue" }))
      .submit(run("b", { kind: "queue" }));
    expect(one.ended("cron").sentIds()).toEqual(["a"]);
    one.answer("a", ACCEPTED);
    expect(one.ended("a").sentIds()).toEqual(["b"]);
  });

  it("that queues goes back to the head of its queue when the service is busy", () => {
    const one = lanes()
      .submit(run("a", { kind: "queue" }))
      .submit(run("b", { kind: "queue" }))
      .answer("a", busy("x"));
    expect(one.outcome("a")).toBeUndefined();
    expect(one.ended("x").sentIds()).toEqual(["a"]);
  });

  it("that queues asks again after a while when a refusal names a run whose end was told before it", () => {
    const one = lanes()
      .submit(run("a", { kind: "queue" }))
      .ended("x")
      .answer("a", busy("x"));
    expect(one.sentIds()).toEqual([]);
    expect(one.timer("ask")).toBe(POLICY.askMs);
    expect(one.due("ask").sentIds()).toEqual(["a"]);
  });

  it("that was refused says why", () => {
    const one = lanes().submit(run("a")).answer("a", { kind: "refused", code: "forbidden", message: "No." });
    expect(one.outcome("a")).toEqual({ kind: "refused", code: "forbidden", message: "No." });
  });

  it("that may not have arrived is sent again under its id, then given up", () => {
    const one = lanes().submit(run("a"));
    for (let again = 0; again < POLICY.sendRetries; again += 1) {
      one.answer("a", UNREACHABLE);
      expect(one.due("send").sentIds()).toEqual(["a"]);
    }
    one.answer("a", UNREACHABLE);
    expect(one.outcome("a")).toEqual({ kind: "unreachable" });
  });

  it("whose answers are all lost is not given up while it is seen to run", () => {
    const one = lanes().submit(run("a")).answer("a", UNREACHABLE).running("a");
    expect(one.timer("send")).toBeUndefined();
    expect(one.ended("a").outcome("a")).toEqual({ kind: "done", status: "success" });
  });
});

describe("a run whose end nobody told", () => {
  it("is asked for again under its id when another is seen in its place", () => {
    const one = lanes().submit(run("a")).answer("a", ACCEPTED).running("cron");
    expect(one.timer("track")).toBe(POLICY.trackMs);
    expect(one.due("track").sentIds()).toEqual(["a"]);
    one.answer("a", ACCEPTED).take({ kind: "ended", id: "a", status: "error" });
    expect(one.outcome("a")).toEqual({ kind: "done", status: "error" });
  });

  it("is asked for again when it was accepted and is never seen to run", () => {
    const one = lanes().submit(run("a")).answer("a", ACCEPTED);
    expect(one.timer("track")).toBe(POLICY.trackMs);
    one.due("track").answer("a", ACCEPTED);
    expect(one.timer("track")).toBe(2 * POLICY.trackMs);
  });

  it("is asked for again within a minute, however often it had to be sent", () => {
    const patient = { ...POLICY, sendRetries: 1_000 };
    const one = lanes(patient).submit(run("a"));
    for (let again = 0; again < 40; again += 1) one.answer("a", UNREACHABLE).due("send");
    one.answer("a", ACCEPTED);
    expect(one.timer("track")).toBe(60_000);
  });

  it("is over in the end, and how is not known", () => {
    const one = lanes().submit(run("a")).answer("a", ACCEPTED).idle();
    for (let again = 0; again < POLICY.sendRetries; again += 1) one.due("track").answer("a", ACCEPTED);
    one.due("track");
    expect(one.outcome("a")).toEqual({ kind: "done", status: "unknown" });
    expect(one.state).toEqual(idleScheduler);
  });

  it("is not asked for when what was seen was only late", () => {
    const one = lanes().submit(run("a")).answer("a", ACCEPTED).ended("before").running("a");
    expect(one.timer("track")).toBeUndefined();
    expect(one.outcome("a")).toBeUndefined();
  });
});

describe("sync", () => {
  it("is kept before it is sent, and confirmed by the state alone", () => {
    const one = lanes().submit(sync("m1"));
    expect(one.persisted).toEqual(["m1"]);
    expect(one.sentIds()).toEqual(["m1"]);
    one.answer("m1", ACCEPTED);
    expect(one.outcome("m1")).toBeUndefined();
    one.take({ kind: "confirmed", id: "m1" });
    expect(one.outcome("m1")).toEqual({ kind: "confirmed" });
    expect(one.persisted).toEqual(["m1", undefined]);
  });

  it("waits while a run is seen, and only the latest is sent", () => {
    const one = lanes().running("cron").submit(sync("m1")).submit(sync("m2")).submit(sync("m3"));
    expect(one.sentIds()).toEqual([]);
    expect(one.outcome("m1")).toEqual({ kind: "superseded", by: "m2" });
    expect(one.outcome("m2")).toEqual({ kind: "superseded", by: "m3" });
    expect(one.ended("cron").sentIds()).toEqual(["m3"]);
  });

  it("asks in the end although a run is seen that nobody tells the end of", () => {
    const one = lanes().running("gone").submit(sync("m1"));
    expect(one.due("ask").sentIds()).toEqual(["m1"]);
  });

  it("a newer one waits behind one that is under way", () => {
    const one = lanes().submit(sync("m1")).answer("m1", ACCEPTED).running("m1").submit(sync("m2"));
    expect(one.persisted.at(-1)).toBe("m2");
    one.take({ kind: "confirmed", id: "m1" });
    expect(one.persisted.at(-1)).toBe("m2");
    expect(one.ended("m1").sentIds()).toEqual(["m2"]);
  });

  it("a newer one takes the place of one that was refused and waits to ask again", () => {
    const one = lanes().submit(sync("m1")).answer("m1", busy("x")).submit(sync("m2"));
    expect(one.outcome("m1")).toEqual({ kind: "superseded", by: "m2" });
    expect(one.ended("x").sentIds()).toEqual(["m2"]);
  });

  it("a newer one follows one that may have arrived, so that it cannot be overtaken by it", () => {
    const one = lanes().submit(sync("m1")).answer("m1", UNREACHABLE).submit(sync("m2"));
    expect(one.sentIds()).toEqual([]);
    expect(one.due("send").sentIds()).toEqual(["m1"]);
  });

  it("asks again while the same run is in the way, ever more rarely, and uses up no tries", () => {
    const one = lanes().submit(sync("m1"));
    const waits = Array.from({ length: 7 }, () => {
      one.answer("m1", busy("long"));
      const wait = one.timer("send");
      one.due("send");
      return wait;
    });
    expect(waits).toEqual([500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000]);
  });

  it("is busy after as many other runs got in before it as it has tries", () => {
    const one = lanes().submit(sync("m1"));
    for (const other of ["x1", "x2", "x3"]) one.answer("m1", busy(other)).due("send");
    one.answer("m1", busy("x4"));
    expect(one.outcome("m1")).toEqual({ kind: "busy", runId: "x4" });
    expect(one.persisted.at(-1)).toBeUndefined();
  });

  it("whose run ends without a word of it waits a moment for the acknowledgement", () => {
    const one = lanes().submit(sync("m1")).answer("m1", ACCEPTED).ended("m1");
    expect(one.outcome("m1")).toBeUndefined();
    one.take({ kind: "confirmed", id: "m1" });
    expect(one.outcome("m1")).toEqual({ kind: "confirmed" });
  });

  it("is unconfirmed when that moment has passed", () => {
    const one = lanes().submit(sync("m1")).answer("m1", ACCEPTED).ended("m1").due("confirm");
    expect(one.outcome("m1")).toEqual({ kind: "unconfirmed" });
  });

  it("that waits for its acknowledgement is settled when the next one does too", () => {
    const one = lanes().submit(sync("m1")).answer("m1", ACCEPTED).ended("m1");
    one.submit(sync("m2")).answer("m2", ACCEPTED).ended("m2");
    expect(one.outcome("m1")).toEqual({ kind: "unconfirmed" });
    one.due("confirm");
    expect(one.outcome("m2")).toEqual({ kind: "unconfirmed" });
  });

  it("that was applied before a reload is confirmed, not sent again", () => {
    const waiting = lanes().running("x").submit(sync("m1")).take({ kind: "confirmed", id: "m1" });
    expect(waiting.outcome("m1")).toEqual({ kind: "confirmed" });
    expect(waiting.ended("x").sentIds()).toEqual([]);
    const late = lanes().take({ kind: "confirmed", id: "m1" }).submit(sync("m1"));
    expect(late.sentIds()).toEqual([]);
    expect(late.outcome("m1")).toEqual({ kind: "confirmed" });
    expect(late.persisted).toEqual([undefined]);
  });

  it("that is handed over twice is one", () => {
    const one = lanes().running("x").submit(sync("m1")).submit(sync("m1"));
    expect(one.outcome("m1")).toBeUndefined();
    one.ended("x").submit(sync("m1"));
    expect(one.sentIds()).toEqual([]);
    expect(one.outcome("m1")).toBeUndefined();
  });
});

describe("fire", () => {
  it("is sent at once on a free thread", () => {
    const one = lanes().submit(fire("f"));
    expect(one.sentIds()).toEqual(["f"]);
    expect(one.stops()).toEqual([]);
  });

  it("stops what runs, waits for its end, then goes before everything that waited", () => {
    const one = lanes().running("cron").submit(sync("m1")).submit(fire("f"));
    expect(one.stops()).toEqual(["cron"]);
    expect(one.sentIds()).toEqual([]);
    expect(one.ended("cron", "cancelled").sentIds()).toEqual(["f"]);
    one.answer("f", ACCEPTED);
    expect(one.ended("f").sentIds()).toEqual(["m1"]);
  });

  it("stops a run of ours that is still on its way by the id we gave it, and what is seen to run", () => {
    expect(lanes().submit(run("a")).submit(fire("f")).stops()).toEqual(["a"]);
    expect(lanes().running("cron").submit(run("a")).submit(fire("f")).stops()).toEqual(["a", "cron"]);
  });

  it("does not wait for an end longer than its bound; the service decides", () => {
    const one = lanes().submit(run("a")).answer("a", ACCEPTED).submit(fire("f")).due("stop");
    expect(one.sentIds()).toEqual(["f"]);
    expect(one.outcome("a")).toEqual({ kind: "done", status: "cancelled" });
    one.answer("a", ACCEPTED).ended("a");
    expect(one.outcome("f")).toBeUndefined();
  });

  it("past its bound says of what was never answered that it is not known to have arrived", () => {
    const one = lanes().submit(run("a")).submit(fire("f")).due("stop").answer("a", busy("x"));
    expect(one.outcome("a")).toEqual({ kind: "unreachable" });
  });

  it("past its bound leaves a sync it took the thread from to its acknowledgement", () => {
    const one = lanes().submit(sync("m1")).answer("m1", ACCEPTED).submit(fire("f")).due("stop");
    expect(one.persisted.at(-1)).toBeUndefined();
    one.take({ kind: "confirmed", id: "m1" });
    expect(one.outcome("m1")).toEqual({ kind: "confirmed" });
  });

  it("asks again for a short while, stopping what is in the way", () => {
    const one = lanes().submit(fire("f"));
    for (let again = 0; again < POLICY.fireRetries; again += 1) {
      one.answer("f", busy("x"));
      expect(one.stops()).toEqual(["x"]);
      expect(one.timer("send")).toBe(POLICY.fireRetryMs);
      one.due("send");
    }
    one.answer("f", busy("x"));
    expect(one.outcome("f")).toEqual({ kind: "busy", runId: "x" });
  });

  it("a newer one takes the place of one that waits for the thread", () => {
    const one = lanes().running("cron").submit(fire("f1")).submit(fire("f2"));
    expect(one.outcome("f1")).toEqual({ kind: "superseded", by: "f2" });
    expect(one.ended("cron").sentIds()).toEqual(["f2"]);
  });

  it("loses no sync that waited to be sent again", () => {
    const one = lanes().submit(sync("m1")).answer("m1", UNREACHABLE).submit(fire("f"));
    expect(one.stops()).toEqual(["m1"]);
    expect(one.sentIds()).toEqual(["f"]);
    one.answer("f", ACCEPTED);
    expect(one.ended("f").sentIds()).toEqual(["m1"]);
  });

  it("settles what waited to be sent again", () => {
    const refused = lanes()
      .submit(run("a", { kind: "retry", times: 3, delayMs: 100 }))
      .answer("a", busy("x"));
    expect(refused.submit(fire("f")).outcome("a")).toEqual({ kind: "busy", runId: "x" });
    const lost = lanes().submit(run("a")).answer("a", UNREACHABLE).submit(fire("f"));
    expect(lost.outcome("a")).toEqual({ kind: "unreachable" });
  });

  it("takes a sync's place that gets no answer while the thread is taken from it", () => {
    const one = lanes().submit(sync("m1")).submit(fire("f")).answer("m1", UNREACHABLE);
    expect(one.sentIds()).toEqual(["f"]);
    one.answer("f", ACCEPTED);
    expect(one.ended("f").sentIds()).toEqual(["m1"]);
  });

  it("settles an older sync in favour of the newer one it finds waiting", () => {
    const waiting = lanes().submit(sync("m1")).answer("m1", UNREACHABLE).submit(sync("m2")).submit(fire("f"));
    expect(waiting.outcome("m1")).toEqual({ kind: "superseded", by: "m2" });
    const refused = lanes().submit(sync("m1")).submit(sync("m2")).submit(fire("f")).answer("m1", busy("x"));
    expect(refused.outcome("m1")).toEqual({ kind: "superseded", by: "m2" });
  });
});

describe("stop", () => {
  it("names what runs, and is done when that has ended and the service has heard of it", () => {
    const one = lanes().running("cron").submit(stop("s"));
    expect(one.stops()).toEqual(["cron"]);
    one.received();
    expect(one.outcome("s")).toBeUndefined();
    expect(one.ended("cron", "cancelled").outcome("s")).toEqual({ kind: "stopped" });
  });

  it("is not done when only one of the runs it names is heard to be stopped", () => {
    const one = lanes().running("cron").submit(run("a")).submit(stop("s"));
    one.take({ kind: "stop-answered", runId: "a", ok: true }).due("stop");
    expect(one.outcome("s")).toEqual({ kind: "unreachable" });
  });

  it("reaches the service although nothing is seen to run", () => {
    const one = lanes().submit(stop("s"));
    expect(one.stops()).toEqual([undefined]);
    expect(one.outcome("s")).toBeUndefined();
    one.received();
    expect(one.outcome("s")).toEqual({ kind: "stopped" });
    expect(one.timer("stop")).toBeUndefined();
  });

  it("that never arrived says so, and takes nothing from what goes on", () => {
    const one = lanes().submit(run("a")).answer("a", ACCEPTED).submit(stop("s"));
    one.take({ kind: "stop-answered", runId: "a", ok: false }).due("stop");
    expect(one.outcome("s")).toEqual({ kind: "unreachable" });
    expect(one.outcome("a")).toBeUndefined();
    expect(one.ended("a").outcome("a")).toEqual({ kind: "done", status: "success" });
  });

  it("that was heard is done at its bound, whoever still speaks", () => {
    const one = lanes().running("slow").submit(stop("s")).received().due("stop");
    expect(one.outcome("s")).toEqual({ kind: "stopped" });
  });

  it("also stops the run that turns out to be in the way of one that was being sent", () => {
    const one = lanes().submit(run("a")).submit(stop("s")).answer("a", busy("cron"));
    expect(one.stops()).toEqual(["cron"]);
    expect(one.outcome("a")).toEqual({ kind: "busy", runId: "cron" });
  });

  it("also stops a run that is seen only while it waits", () => {
    const one = lanes().submit(stop("s")).running("hidden");
    expect(one.stops()).toEqual(["hidden"]);
    expect(one.running("hidden").stops()).toEqual([]);
  });

  it("stops a command that may have arrived, and it is not sent again", () => {
    const one = lanes().submit(run("a")).answer("a", UNREACHABLE).submit(stop("s"));
    expect(one.stops()).toEqual(["a"]);
    expect(one.outcome("a")).toEqual({ kind: "unreachable" });
    expect(one.received().sentIds()).toEqual([]);
    expect(one.timer("send")).toBeUndefined();
  });

  it("holds back what is submitted until it is done", () => {
    const one = lanes().running("cron").submit(stop("s")).submit(sync("m1"));
    one.submit(run("b", { kind: "queue" })).received();
    expect(one.sentIds()).toEqual([]);
    expect(one.ended("cron").sentIds()).toEqual(["b"]);
  });

  it("takes the place of a fire that had not gone yet", () => {
    const one = lanes().running("cron").submit(fire("f")).submit(stop("s"));
    expect(one.outcome("f")).toEqual({ kind: "superseded", by: "s" });
    one.received();
    expect(one.ended("cron").sentIds()).toEqual([]);
  });
});
