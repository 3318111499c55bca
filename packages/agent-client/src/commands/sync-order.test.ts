import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ScheduledOutcome } from "./command.js";
import { newId } from "./mutation-ids.js";
import { transitionScheduler } from "./scheduler.js";
import {
  idleScheduler,
  type SchedulerEffect,
  type SchedulerInput,
  type SchedulerState,
} from "./scheduler-state.js";

function play(inputs: readonly SchedulerInput[]) {
  let state: SchedulerState = idleScheduler;
  const effects: SchedulerEffect[] = [];
  for (const input of inputs) {
    const [next, more] = transitionScheduler(state, input);
    state = next;
    effects.push(...more);
  }
  const outcomes = new Map<string, ScheduledOutcome>();
  for (const effect of effects) if (effect.kind === "settle") outcomes.set(effect.id, effect.outcome);
  const sent = effects.flatMap((effect) => (effect.kind === "send" ? [effect.command.id] : []));
  return { state, outcomes, sent };
}

const sync = (id: string): SchedulerInput => ({
  kind: "submit",
  command: { kind: "sync", id, input: { state: { id } } },
});
const busy: SchedulerInput = { kind: "observed", observed: { kind: "running", runId: "cron" } };
const idle: SchedulerInput = { kind: "observed", observed: { kind: "idle" } };
const accepted = (id: string): SchedulerInput => ({ kind: "answered", id, ack: { kind: "accepted" } });
const ended = (id: string): SchedulerInput => ({ kind: "ended", id, status: "success" });
const confirmed = (id: string): SchedulerInput => ({ kind: "confirmed", id });

describe("the newest sync", () => {
  it("wins when two are made in one tick on a busy thread, 200 times out of 200", () => {
    const now = Date.now();
    for (let time = 0; time < 200; time += 1) {
      const [older, newer] = [newId(now), newId(now)];
      const { sent, outcomes } = play([busy, sync(older), sync(newer), idle]);
      expect(sent).toEqual([newer]);
      expect(outcomes.get(older)).toEqual({ kind: "superseded", by: newer });
    }
  });

  it("wins in whatever order tabs ask again for theirs", () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 6 }), fc.infiniteStream(fc.nat()), (count, picks) => {
        const made = Array.from({ length: count }, () => newId(1_700_000_000_000));
        const asked = made.toSorted(() => ((picks.next().value ?? 0) % 2 === 0 ? 1 : -1));
        const { sent, outcomes } = play([busy, ...asked.map(sync), idle]);
        expect(sent).toEqual([made.at(-1)]);
        for (const older of made.slice(0, -1)) expect(outcomes.get(older)?.kind).toBe("superseded");
      }),
    );
  });

  const [older, newer] = [newId(1_700_000_000_000), newId(1_700_000_000_000)];

  it.each<[string, readonly SchedulerInput[]]>([
    ["waits", [busy, sync(newer)]],
    ["is sent", [sync(newer)]],
    ["runs", [sync(newer), accepted(newer)]],
    ["has run, and is not confirmed yet", [sync(newer), accepted(newer), ended(newer)]],
    ["is confirmed", [sync(newer), accepted(newer), confirmed(newer), ended(newer)]],
    ["was confirmed for another client", [confirmed(newer)]],
  ])("supersedes an older one that is asked for again while it %s", (_, before) => {
    const { outcomes, sent } = play([...before, sync(older), ended(newer), idle]);
    expect(outcomes.get(older)).toEqual({ kind: "superseded", by: newer });
    expect(sent).not.toContain(older);
  });

  it("supersedes an older one that waits, when another client's is confirmed", () => {
    expect(play([busy, sync(older), confirmed(newer), idle])).toMatchObject({ sent: [] });
    const refused: SchedulerInput = {
      kind: "answered",
      id: older,
      ack: { kind: "busy", runId: "cron", retryAfterMs: undefined },
    };
    const { outcomes } = play([sync(older), refused, confirmed(newer)]);
    expect(outcomes.get(older)).toEqual({ kind: "superseded", by: newer });
  });

  it("is asked for once, however often it is asked for again", () => {
    const { sent, outcomes } = play([
      sync(newer),
      sync(newer),
      accepted(newer),
      sync(newer),
      ended(newer),
      sync(newer),
    ]);
    expect(sent).toEqual([newer]);
    expect(outcomes.size).toBe(0);
  });

  it("is not judged by an id of another kind, which says nothing of when it was made", () => {
    expect(play([confirmed("zebra"), sync(newer)]).sent).toEqual([newer]);
  });
});
