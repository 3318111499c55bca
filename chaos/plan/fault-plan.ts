import { seededRandom } from "../../e2e/server/rig/seeded-random.js";

/** Every way in which something is broken, by what it hits. Those of one lane never overlap; lanes do. */
export const FAULT_KINDS = {
  instances: ["kill", "pause", "deploy", "clockJump"],
  database: [
    "databaseKill",
    "databaseTerminate",
    "databaseReadOnly",
    "databaseFull",
    "databaseHalfOpen",
    "databaseSwallow",
    "databaseCut",
    "standbyPause",
    "failover",
  ],
  services: [
    "redisKill",
    "redisPause",
    "redisFlush",
    "redisSwallow",
    "litellmKill",
    "litellmCut",
    "litellmSwallow",
  ],
  clients: ["clientCut", "clientHalfOpen", "clientSwallow"],
} as const;

export type Lane = keyof typeof FAULT_KINDS;
export type FaultKind = (typeof FAULT_KINDS)[Lane][number];

export interface Fault {
  readonly lane: Lane;
  readonly kind: FaultKind;
  /** In [0, 1): which instance or connection it hits, and the seed of what is random in it. */
  readonly aim: number;
  readonly ms: number;
  /** Without a fault of this lane, before it. */
  readonly restMs: number;
}

export interface FaultPlanOptions {
  readonly seed: number;
  readonly durationMs: number;
  /** What this stage does not have. */
  readonly without: readonly FaultKind[];
  /** Of a short run: faults and rests last for this share of their time. */
  readonly scale: number;
}

interface Shape {
  /** How often it is chosen, against the others of its lane. */
  readonly weight: number;
  readonly ms: readonly [least: number, most: number];
}

/**
 * A standby that is paused holds commits back; past the 10 s that the service gives a statement, PostgreSQL would acknowledge them
 * unreplicated, and a failover could then lose them.
 */
const STANDBY_MS = [1_000, 6_000] as const;

const SHAPES: Readonly<Record<FaultKind, Shape>> = {
  kill: { weight: 5, ms: [0, 6_000] },
  pause: { weight: 3, ms: [1_000, 12_000] },
  deploy: { weight: 1, ms: [200, 2_000] },
  clockJump: { weight: 2, ms: [3_000, 15_000] },
  databaseKill: { weight: 2, ms: [500, 8_000] },
  databaseTerminate: { weight: 2, ms: [2_000, 8_000] },
  databaseReadOnly: { weight: 1, ms: [1_000, 6_000] },
  databaseFull: { weight: 1, ms: [1_000, 6_000] },
  databaseHalfOpen: { weight: 2, ms: [2_000, 20_000] },
  databaseSwallow: { weight: 2, ms: [2_000, 20_000] },
  databaseCut: { weight: 2, ms: [0, 0] },
  standbyPause: { weight: 2, ms: STANDBY_MS },
  failover: { weight: 2, ms: [0, 0] },
  redisKill: { weight: 2, ms: [500, 6_000] },
  redisPause: { weight: 2, ms: [500, 6_000] },
  redisFlush: { weight: 1, ms: [1_000, 3_000] },
  redisSwallow: { weight: 2, ms: [1_000, 8_000] },
  litellmKill: { weight: 1, ms: [0, 2_000] },
  litellmCut: { weight: 2, ms: [0, 0] },
  litellmSwallow: { weight: 1, ms: [1_000, 6_000] },
  clientCut: { weight: 4, ms: [0, 0] },
  clientHalfOpen: { weight: 2, ms: [1_000, 15_000] },
  clientSwallow: { weight: 2, ms: [1_000, 15_000] },
};

const REST_MS: Readonly<Record<Lane, readonly [number, number]>> = {
  instances: [3_000, 10_000],
  database: [5_000, 15_000],
  services: [3_000, 12_000],
  clients: [1_000, 6_000],
};

/** What is broken when, lane by lane: the same for the same seed. More than fits, because mending takes time of its own. */
export function planFaults({ seed, durationMs, without, scale }: FaultPlanOptions): readonly Fault[] {
  const lanes = Object.keys(FAULT_KINDS) as Lane[];
  return lanes.flatMap((lane, index) => {
    const random = seededRandom(seed * 31 + index);
    const kinds = FAULT_KINDS[lane].filter((kind) => !without.includes(kind));
    const faults: Fault[] = [];
    for (let planned = 0; planned < durationMs && kinds.length > 0; ) {
      const kind = weighted(kinds, random());
      const ms = Math.round(between(SHAPES[kind].ms, random()) * scale);
      const restMs = Math.round(between(REST_MS[lane], random()) * scale);
      faults.push({ lane, kind, aim: random(), ms, restMs });
      planned += ms + restMs;
    }
    return faults;
  });
}

function weighted(kinds: readonly FaultKind[], at: number): FaultKind {
  const total = kinds.reduce((sum, kind) => sum + SHAPES[kind].weight, 0);
  let left = at * total;
  for (const kind of kinds) {
    left -= SHAPES[kind].weight;
    if (left < 0) return kind;
  }
  return kinds[0] as FaultKind;
}

function between([least, most]: readonly [number, number], at: number): number {
  return least + (most - least) * at;
}
