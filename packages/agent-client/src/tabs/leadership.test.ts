import { describe, expect, it } from "vitest";
import { type LeadershipInput, newcomer, transitionLeadership } from "./leadership.js";

/** Steps through inputs, each at its time, and keeps the last step. */
function after(...inputs: readonly (readonly [at: number, input: LeadershipInput])[]) {
  return inputs.reduce(
    ([state], [at, input]) => transitionLeadership(state, input, at),
    transitionLeadership(newcomer, { kind: "start" }, 0),
  );
}

const DUE: LeadershipInput = { kind: "due" };
const kinds = (effects: readonly { readonly kind: string }[]) => effects.map(({ kind }) => kind);

describe("which tab leads", () => {
  it("is asked for with the lock first, and with words beside it", () => {
    expect(kinds(after()[1])).toEqual(["request-lock", "ask", "timer"]);
  });

  it("is the one that has the lock, under an epoch above any it heard of", () => {
    const [state, effects] = after([10, { kind: "received", epoch: 5_000 }], [20, { kind: "granted" }]);
    expect(state).toMatchObject({ role: "leader", epoch: 5_001 });
    expect(effects).toContainEqual({ kind: "lead", epoch: 5_001 });
  });

  it("is the one that has the lock, under an epoch above the last one that was kept, whatever the clock says", () => {
    expect(after([20, { kind: "granted", after: 9_000 }])[0].epoch).toBe(9_001);
  });

  it("changes when a leader did not answer for so long that it must be frozen", () => {
    const received = [1, { kind: "received", epoch: 7 }] as const;
    const [, early] = after(received, [2_000, DUE], [4_000, DUE], [6_000, DUE]);
    expect(early).not.toContainEqual({ kind: "request-lock", steal: true });
    const [, late] = after(received, [2_000, DUE], [4_000, DUE], [6_000, DUE], [8_000, DUE]);
    expect(late).toContainEqual({ kind: "request-lock", steal: true });
  });

  it("does not change because this tab's own timers were held back", () => {
    const received = [1, { kind: "received", epoch: 7 }] as const;
    const [asked, effects] = after(received, [2_000, DUE], [62_000, DUE]);
    expect(kinds(effects)).toEqual(["ask", "timer"]);
    expect(asked.askedAt).toBe(62_000);
  });

  it("steps down when the lock was stolen, and queues for it again", () => {
    const [state, effects] = after([1, { kind: "granted" }], [9_000, { kind: "lost" }]);
    expect(state.role).toBe("follower");
    expect(kinds(effects)).toEqual(["follow", "request-lock", "ask", "timer"]);
  });

  it("steps down when it hears of a newer leader, and passes over an older one", () => {
    const [state] = after([100, { kind: "granted" }], [200, { kind: "received", epoch: 99 }]);
    expect(state.role).toBe("leader");
    const [later] = after([100, { kind: "granted" }], [200, { kind: "received", epoch: 101 }]);
    expect(later).toMatchObject({ role: "follower", epoch: 101 });
  });

  it("is given up by a tab that is being frozen, and asked for again when it thaws", () => {
    const frozen = [20, { kind: "frozen", isFrozen: true }] as const;
    const [state, effects] = after([10, { kind: "granted" }], frozen);
    expect(state).toMatchObject({ role: "follower", isFrozen: true });
    expect(effects).toEqual([
      { kind: "yield", to: undefined },
      { kind: "leave-lock" },
      { kind: "timer", at: undefined },
    ]);
    const [, thawed] = after([10, { kind: "granted" }], frozen, [30, { kind: "frozen", isFrozen: false }]);
    expect(thawed).toContainEqual({ kind: "request-lock", steal: false });
  });

  it("is not taken by a tab that is frozen, though the lock comes to it", () => {
    const [state, effects] = after([10, { kind: "frozen", isFrozen: true }], [20, { kind: "granted" }]);
    expect(state.role).toBe("follower");
    expect(effects).toEqual([{ kind: "leave-lock" }]);
  });

  const HEARD = { kind: "received", epoch: 7 } as const;
  const hidden = [10, { kind: "seen", isVisible: false }] as const;

  it("is claimed from a leader that nobody looks at, by a tab that somebody does", () => {
    const [state, effects] = after([1, { ...HEARD, isHidden: true }]);
    expect(kinds(effects)).toEqual(["follow", "claim", "timer"]);
    expect(state.claimedAt).toBe(1);
    const [, again] = after([1, { ...HEARD, isHidden: true }], [2, { ...HEARD, isHidden: true }]);
    expect(again).toEqual([]);
    const [, unseen] = after([1, { kind: "seen", isVisible: false }], [2, { ...HEARD, isHidden: true }]);
    expect(kinds(unseen)).toEqual(["follow"]);
  });

  it("is claimed by a tab when somebody begins to look at it, and left to a leader that is looked at too", () => {
    const [, claiming] = after([1, HEARD], hidden, [20, { kind: "seen", isVisible: true }]);
    expect(kinds(claiming)).toEqual(["claim", "timer"]);
    const [calm] = after(
      [1, HEARD],
      hidden,
      [20, { kind: "seen", isVisible: true }],
      [21, { ...HEARD, isHidden: false }],
    );
    expect(calm.claimedAt).toBeUndefined();
    const [, kept] = after([1, { kind: "granted" }], [2, { kind: "claimed", by: "other" }]);
    expect(kept).toEqual([{ kind: "tell" }]);
  });

  it("is handed over on a claim by a leader that nobody looks at, and taken with the lock", () => {
    const [state, effects] = after([1, { kind: "granted" }], hidden, [20, { kind: "claimed", by: "other" }]);
    expect(state.role).toBe("follower");
    expect(effects[0]).toEqual({ kind: "yield", to: "other" });
    const [, taking] = after([1, HEARD], [2, { kind: "yielded", epoch: 7 }]);
    expect(taking).toEqual([{ kind: "request-lock", steal: true }]);
    const [, late] = after([1, HEARD], [2, { kind: "yielded", epoch: 6 }]);
    expect(late).toEqual([]);
    const [, queued] = after(
      [1, { kind: "granted" }],
      hidden,
      [20, { kind: "claimed", by: "other" }],
      [21, { kind: "lost" }],
    );
    expect(queued).toEqual([{ kind: "request-lock", steal: false }]);
  });

  it("is taken within a second from a leader in the background that does not hand over", () => {
    const [, effects] = after([1, { ...HEARD, isHidden: true }], [1_001, DUE]);
    expect(effects[0]).toEqual({ kind: "request-lock", steal: true });
  });

  it("is told to the others when somebody begins or ceases to look at the leader", () => {
    expect(after([1, { kind: "granted" }], hidden)[1]).toEqual([{ kind: "tell" }]);
    expect(after([1, { kind: "granted" }], hidden, [11, { kind: "seen", isVisible: false }])[1]).toEqual([]);
  });
});
