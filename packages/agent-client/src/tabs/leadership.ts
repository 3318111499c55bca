export interface LeadershipPolicy {
  /** How often a tab that follows asks whether its leader is there. */
  readonly askMs: number;
  /** Unanswered for so long, the leader is frozen. */
  readonly silenceMs: number;
}

const DEFAULT_LEADERSHIP_POLICY: LeadershipPolicy = { askMs: 2_000, silenceMs: 5_000 };

export interface Leadership {
  readonly role: "follower" | "leader";
  /** Of the newest leader known; what an older one says is late. */
  readonly epoch: number;
  /** Since when the leader owes an answer. */
  readonly askedAt: number | undefined;
  readonly dueAt: number | undefined;
  readonly isFrozen: boolean;
}

export const newcomer: Leadership = {
  role: "follower",
  epoch: 0,
  askedAt: undefined,
  dueAt: undefined,
  isFrozen: false,
};

export type LeadershipInput =
  | { readonly kind: "start" }
  /** The lock is ours. */
  | { readonly kind: "granted" }
  /** It was stolen: we were frozen, and another tab went on. */
  | { readonly kind: "lost" }
  /** A leader spoke. */
  | { readonly kind: "heard"; readonly epoch: number }
  | { readonly kind: "due" }
  | { readonly kind: "visible" }
  /** The browser is about to hold back this tab's timers and requests, though not what other tabs say to it; or has ended that. */
  | { readonly kind: "frozen"; readonly isFrozen: boolean };

export type LeadershipEffect =
  | { readonly kind: "request-lock"; readonly steal: boolean }
  | { readonly kind: "leave-lock" }
  | { readonly kind: "ask" }
  | { readonly kind: "lead"; readonly epoch: number }
  /** Another leads, from now on or anew. */
  | { readonly kind: "follow" }
  | { readonly kind: "timer"; readonly at: number | undefined };

export type LeadershipStep = readonly [next: Leadership, effects: readonly LeadershipEffect[]];

/** A timer this much late was held back, and the answer may wait in the same queue. */
const LATE_MS = 1_000;

/** Which tab holds the streams. The lock decides; the epoch tells a leader from the one before it. */
export function stepLeadership(
  now: Leadership,
  input: LeadershipInput,
  time: number,
  policy: LeadershipPolicy = DEFAULT_LEADERSHIP_POLICY,
): LeadershipStep {
  switch (input.kind) {
    case "start":
      return ask(now, time, policy, [{ kind: "request-lock", steal: false }]);
    case "granted": {
      if (now.role === "leader") return [now, []];
      if (now.isFrozen) return [now, [{ kind: "leave-lock" }]];
      // Time alone would do, but for a clock that was set back.
      const epoch = Math.max(now.epoch + 1, time);
      return [
        { ...now, role: "leader", epoch, askedAt: undefined, dueAt: undefined },
        [
          { kind: "timer", at: undefined },
          { kind: "lead", epoch },
        ],
      ];
    }
    case "lost":
      return now.role === "leader" ? stepDown(now, time, policy) : [now, []];
    case "heard":
      return heard(now, input.epoch, time, policy);
    case "due":
      return due(now, time, policy);
    case "visible":
      return now.role === "leader" ? [now, []] : ask({ ...now, askedAt: undefined }, time, policy, []);
    case "frozen":
      return input.isFrozen === now.isFrozen ? [now, []] : freeze(now, input.isFrozen, time, policy);
  }
}

/** A leader that answers and does nothing would be followed for ever: it goes while it still can, and nobody waits for it. */
function freeze(now: Leadership, isFrozen: boolean, time: number, policy: LeadershipPolicy): LeadershipStep {
  const next: Leadership = { ...now, role: "follower", isFrozen, askedAt: undefined };
  if (!isFrozen) return ask(next, time, policy, [{ kind: "request-lock", steal: false }]);
  const following: readonly LeadershipEffect[] = now.role === "leader" ? [{ kind: "follow" }] : [];
  return [next, [{ kind: "leave-lock" }, ...following, { kind: "timer", at: undefined }]];
}

function heard(now: Leadership, epoch: number, time: number, policy: LeadershipPolicy): LeadershipStep {
  if (epoch < now.epoch) return [now, []];
  if (now.role === "leader") {
    return epoch === now.epoch ? [now, []] : stepDown({ ...now, epoch }, time, policy);
  }
  const next: Leadership = { ...now, epoch, askedAt: undefined };
  return [next, epoch > now.epoch ? [{ kind: "follow" }] : []];
}

function stepDown(now: Leadership, time: number, policy: LeadershipPolicy): LeadershipStep {
  const follower: Leadership = { ...now, role: "follower" };
  return ask(follower, time, policy, [{ kind: "follow" }, { kind: "request-lock", steal: false }]);
}

function due(now: Leadership, time: number, policy: LeadershipPolicy): LeadershipStep {
  if (now.role === "leader") return [now, []];
  const isLate = now.dueAt !== undefined && time - now.dueAt > LATE_MS;
  const isSilent = now.askedAt !== undefined && time - now.askedAt >= policy.silenceMs;
  if (!isSilent || isLate) return ask(isLate ? { ...now, askedAt: undefined } : now, time, policy, []);
  return ask({ ...now, askedAt: undefined }, time, policy, [{ kind: "request-lock", steal: true }]);
}

function ask(
  now: Leadership,
  time: number,
  policy: LeadershipPolicy,
  effects: readonly LeadershipEffect[],
): LeadershipStep {
  const dueAt = time + policy.askMs;
  return [
    { ...now, askedAt: now.askedAt ?? time, dueAt },
    [...effects, { kind: "ask" }, { kind: "timer", at: dueAt }],
  ];
}
