export interface LeadershipPolicy {
  /** How often a follower tab checks that its leader responds. */
  readonly askMs: number;
  /** Without a response for this long, the leader counts as frozen. */
  readonly silenceMs: number;
  /** A leader in the background that does not hand over within this is frozen. */
  readonly claimMs: number;
}

const DEFAULT_LEADERSHIP_POLICY: LeadershipPolicy = { askMs: 2_000, silenceMs: 5_000, claimMs: 1_000 };

export interface Leadership {
  readonly role: "follower" | "leader";
  /** The epoch of the newest known leader; messages of an older one are late. */
  readonly epoch: number;
  /** Since when the leader owes a response. */
  readonly askedAt: number | undefined;
  /** Since when it owes the lead. */
  readonly claimedAt: number | undefined;
  readonly dueAt: number | undefined;
  readonly isFrozen: boolean;
  /** Whether this tab is visible. */
  readonly isVisible: boolean;
}

export const newcomer: Leadership = {
  role: "follower",
  epoch: 0,
  askedAt: undefined,
  claimedAt: undefined,
  dueAt: undefined,
  isFrozen: false,
  isVisible: true,
};

export type LeadershipInput =
  | { readonly kind: "start" }
  /** The lock was granted. `after`: the epoch of the last leader, where that was stored. */
  | { readonly kind: "granted"; readonly after?: number }
  /** The lock was stolen: this tab was frozen or had handed over, and another tab continues. */
  | { readonly kind: "lost" }
  /** A message of a leader was received. `isHidden`: whether the leader is hidden, where the message contains that. */
  | { readonly kind: "received"; readonly epoch: number; readonly isHidden?: boolean }
  /** A visible tab wants the lead. */
  | { readonly kind: "claimed"; readonly by: string }
  /** The leader hands over to this tab. */
  | { readonly kind: "yielded"; readonly epoch: number }
  | { readonly kind: "due" }
  | { readonly kind: "seen"; readonly isVisible: boolean }
  /** The browser is about to suspend this tab's timers and requests, though not messages of other tabs; or has ended that. */
  | { readonly kind: "frozen"; readonly isFrozen: boolean };

export type LeadershipEffect =
  | { readonly kind: "request-lock"; readonly steal: boolean }
  | { readonly kind: "leave-lock" }
  | { readonly kind: "ask" }
  /** Broadcasts that this tab leads, and whether it is visible. */
  | { readonly kind: "tell" }
  | { readonly kind: "claim" }
  | { readonly kind: "lead"; readonly epoch: number }
  /** Hands the commands under way over to the tab `to`, or to the next leader; this tab stops leading. */
  | { readonly kind: "yield"; readonly to: string | undefined }
  /** Follows another leader, or the same one after it led again. */
  | { readonly kind: "follow" }
  | { readonly kind: "timer"; readonly at: number | undefined };

export type LeadershipStep = readonly [next: Leadership, effects: readonly LeadershipEffect[]];

/** A timer this late was suspended, and the response may wait in the same queue. */
const LATE_MS = 1_000;

/**
 * The state machine of which tab holds the stream: the visible one, because browsers suspend the timers of all others. The lock
 * decides; the epoch distinguishes a leader from the previous one.
 */
export function transitionLeadership(
  now: Leadership,
  input: LeadershipInput,
  time: number,
  policy: LeadershipPolicy = DEFAULT_LEADERSHIP_POLICY,
): LeadershipStep {
  switch (input.kind) {
    case "start":
      return ask(now, time, policy, [{ kind: "request-lock", steal: false }]);
    case "granted":
      return granted(now, input.after ?? 0, time);
    case "lost":
      // After handing over, this tab is no longer in the queue.
      return now.role === "leader"
        ? stepDown(now, time, policy)
        : [now, now.isFrozen ? [] : [{ kind: "request-lock", steal: false }]];
    case "received":
      return leaderSeen(now, input, time, policy);
    case "claimed":
      return claimed(now, input.by, time, policy);
    case "yielded":
      if (now.role === "leader" || now.isFrozen || input.epoch < now.epoch) return [now, []];
      return [{ ...now, epoch: input.epoch }, [{ kind: "request-lock", steal: true }]];
    case "due":
      return due(now, time, policy);
    case "seen":
      return seen(now, input.isVisible, time, policy);
    case "frozen":
      return input.isFrozen === now.isFrozen ? [now, []] : freeze(now, input.isFrozen, time, policy);
  }
}

function granted(now: Leadership, after: number, time: number): LeadershipStep {
  if (now.role === "leader") return [now, []];
  if (now.isFrozen) return [now, [{ kind: "leave-lock" }]];
  // Time alone would suffice, except for a clock that was set back, and for tabs that lead within one millisecond.
  const epoch = Math.max(now.epoch + 1, after + 1, time);
  return [
    { ...now, role: "leader", epoch, askedAt: undefined, claimedAt: undefined, dueAt: undefined },
    [
      { kind: "timer", at: undefined },
      { kind: "lead", epoch },
    ],
  ];
}

/** Resigns when the tab freezes, so that a stuck leader can't hold the lock. */
function freeze(now: Leadership, isFrozen: boolean, time: number, policy: LeadershipPolicy): LeadershipStep {
  const next: Leadership = { ...now, role: "follower", isFrozen, askedAt: undefined, claimedAt: undefined };
  if (!isFrozen) return ask(next, time, policy, [{ kind: "request-lock", steal: false }]);
  const handing: readonly LeadershipEffect[] =
    now.role === "leader" ? [{ kind: "yield", to: undefined }] : [];
  return [next, [...handing, { kind: "leave-lock" }, { kind: "timer", at: undefined }]];
}

function seen(now: Leadership, isVisible: boolean, time: number, policy: LeadershipPolicy): LeadershipStep {
  const next: Leadership = { ...now, isVisible };
  if (now.role === "leader") return [next, isVisible === now.isVisible ? [] : [{ kind: "tell" }]];
  if (!isVisible) return [{ ...next, claimedAt: undefined }, []];
  if (now.isFrozen || now.epoch === 0) return ask({ ...next, askedAt: undefined }, time, policy, []);
  return claim({ ...next, askedAt: undefined }, time, policy, []);
}

function claim(
  now: Leadership,
  time: number,
  policy: LeadershipPolicy,
  effects: readonly LeadershipEffect[],
): LeadershipStep {
  const dueAt = time + policy.claimMs;
  return [{ ...now, claimedAt: time, dueAt }, [...effects, { kind: "claim" }, { kind: "timer", at: dueAt }]];
}

function leaderSeen(
  now: Leadership,
  { epoch, isHidden }: Extract<LeadershipInput, { kind: "received" }>,
  time: number,
  policy: LeadershipPolicy,
): LeadershipStep {
  if (epoch < now.epoch) return [now, []];
  // A message about a thread from the known leader changes nothing.
  if (epoch === now.epoch && isHidden === undefined && now.askedAt === undefined) return [now, []];
  if (now.role === "leader") {
    return epoch === now.epoch ? [now, []] : stepDown({ ...now, epoch }, time, policy);
  }
  const isClaimed = now.claimedAt !== undefined && epoch === now.epoch && isHidden !== false;
  const known: Leadership = {
    ...now,
    epoch,
    askedAt: undefined,
    claimedAt: isClaimed ? now.claimedAt : undefined,
  };
  const followed: readonly LeadershipEffect[] = epoch > now.epoch ? [{ kind: "follow" }] : [];
  if (!isHidden || !now.isVisible || now.isFrozen || isClaimed) return [known, followed];
  return claim(known, time, policy, followed);
}

/** Handles a claim. A visible leader stays leader, and broadcasts that. */
function claimed(now: Leadership, by: string, time: number, policy: LeadershipPolicy): LeadershipStep {
  if (now.role !== "leader") return [now, []];
  if (now.isVisible) return [now, [{ kind: "tell" }]];
  const dueAt = time + policy.askMs;
  return [
    { ...now, role: "follower", askedAt: time, dueAt },
    [
      { kind: "yield", to: by },
      { kind: "timer", at: dueAt },
    ],
  ];
}

function stepDown(now: Leadership, time: number, policy: LeadershipPolicy): LeadershipStep {
  const follower: Leadership = { ...now, role: "follower" };
  return ask(follower, time, policy, [{ kind: "follow" }, { kind: "request-lock", steal: false }]);
}

function due(now: Leadership, time: number, policy: LeadershipPolicy): LeadershipStep {
  if (now.role === "leader") return [now, []];
  const isLate = now.dueAt !== undefined && time - now.dueAt > LATE_MS;
  const owed = (since: number | undefined, ms: number) => since !== undefined && time - since >= ms;
  const isSilent = owed(now.askedAt, policy.silenceMs) || owed(now.claimedAt, policy.claimMs);
  const waiting: Leadership = { ...now, askedAt: undefined, claimedAt: undefined };
  if (!isSilent || isLate) return ask(isLate ? waiting : now, time, policy, []);
  return ask(waiting, time, policy, [{ kind: "request-lock", steal: true }]);
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
