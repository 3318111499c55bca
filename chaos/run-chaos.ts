import { setMaxListeners } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { seededRandom } from "../e2e/server/rig/seeded-random.js";
import { checkHistory } from "./check/check-history.js";
import type { Finding, History } from "./check/history.js";
import { type Fault, type FaultKind, type Lane, planFaults } from "./plan/fault-plan.js";
import { planRooms } from "./plan/work-plan.js";
import { type ChaosStage, type ChaosStageOptions, startChaosStage } from "./stage/chaos-stage.js";
import { performFault } from "./stage/perform-fault.js";
import { requestsOf } from "./work/chaos-http.js";
import { readCharges } from "./work/read-charges.js";
import { readRows } from "./work/read-rows.js";
import { openRoom, type Room } from "./work/room.js";

export interface ChaosOptions extends Pick<ChaosStageOptions, "instances" | "withLitellm" | "withReplica"> {
  readonly seed: number;
  /** With faults; what is under way then comes to its end in calm. */
  readonly durationMs: number;
  /** Rooms where people work at the same time. */
  readonly roomsAtOnce: number;
  readonly deedsPerRoom: number;
  /** Faults and rests last for this share of their time. */
  readonly faultScale: number;
  /** For people, runs and viewers to come to their end once all is mended. */
  readonly patienceMs: number;
  readonly clockLibrary: string | undefined;
  /** Faults that are left out. */
  readonly without: readonly FaultKind[];
  readonly progress: (line: string) => void;
}

export interface PerformedFault extends Fault {
  /** Milliseconds since the beginning. */
  readonly from: number;
  readonly to: number;
  readonly hit: string;
}

export interface ChaosResult {
  readonly seed: number;
  readonly durationMs: number;
  readonly plan: readonly Fault[];
  readonly faults: readonly PerformedFault[];
  readonly history: History;
  readonly findings: readonly Finding[];
  readonly reconnects: number;
  readonly instanceLogs: Readonly<Record<string, string>>;
}

const PROGRESS_MS = 30_000;

/** Breaks what a service stands on while people work with it, mends everything, and checks what has become of it. */
export async function runChaos(options: ChaosOptions): Promise<ChaosResult> {
  const { seed, durationMs, progress } = options;
  const stage = await startChaosStage({ ...options, random: seededRandom(seed * 13 + 1) });
  progress(`${stage.instances.length} instances are up`);
  const rooms: Room[] = [];
  const without = [...missingFaults(stage), ...options.without];
  const plan = planFaults({ seed, durationMs, without, scale: options.faultScale });
  const performed: PerformedFault[] = [];
  const began = performance.now();
  const since = () => Math.round(performance.now() - began);
  const ticker = setInterval(() => {
    const busy = rooms.filter((room) => room.doing() !== undefined).length;
    progress(
      `${Math.round(since() / 1_000)} s: ${rooms.length} threads (${busy} busy), ${performed.length} faults`,
    );
  }, PROGRESS_MS);
  const over = new AbortController();
  const givenUp = new AbortController();
  // Every request listens to it.
  setMaxListeners(0, givenUp.signal);
  try {
    const timeUp = setTimeout(() => over.abort(), durationMs);
    givenUp.signal.addEventListener("abort", () => clearTimeout(timeUp));
    const isOver = over.signal;
    const working = workInRooms(stage, { ...options, rooms, isOver, givenUp: givenUp.signal });
    const lanes = [...new Set(plan.map(({ lane }) => lane))];
    await Promise.all(
      lanes.map((lane) => breakLane(stage, { lane, plan, performed, isOver, since, progress })),
    );
    await mend(stage);
    progress(`${Math.round(since() / 1_000)} s: everything is mended; waiting for what is under way`);
    const tooLate = setTimeout(() => givenUp.abort(), options.patienceMs);
    await working;
    clearTimeout(tooLate);
    const history = await readHistory(stage, rooms, options);
    return {
      seed,
      durationMs,
      plan,
      faults: performed,
      history,
      findings: checkHistory(history),
      reconnects: rooms.reduce((sum, room) => sum + room.reconnects(), 0),
      instanceLogs: Object.fromEntries(stage.instances.map(({ name, server }) => [name, server.log()])),
    };
  } finally {
    clearInterval(ticker);
    over.abort();
    givenUp.abort();
    for (const room of rooms) room.leave();
    await stage.close();
  }
}

function missingFaults({ litellm, replica, instances }: ChaosStage): readonly FaultKind[] {
  return [
    ...(litellm ? [] : (["litellmKill", "litellmCut", "litellmSwallow"] as const)),
    ...(replica ? [] : (["standbyPause", "failover"] as const)),
    ...(instances.some(({ clock }) => clock) ? [] : (["clockJump"] as const)),
  ];
}

interface WorkOptions extends ChaosOptions {
  readonly rooms: Room[];
  readonly isOver: AbortSignal;
  readonly givenUp: AbortSignal;
}

/** A new room for every one whose deeds are done, until the time is over. */
async function workInRooms(stage: ChaosStage, options: WorkOptions): Promise<void> {
  const { rooms, isOver, givenUp, seed } = options;
  const plans = planRooms({ seed, accounts: stage.accounts, deeds: options.deedsPerRoom });
  const tokens = new Map(
    await Promise.all(stage.accounts.map(async (each) => [each, await stage.tokenOf(each)] as const)),
  );
  const requests = (account: string) => requestsOf(stage.url, account, tokens.get(account) ?? "");
  const workOn = async () => {
    while (!isOver.aborted) {
      const plan = plans.next().value;
      if (!plan) return;
      const stranger = stage.accounts[(stage.accounts.indexOf(plan.account) + 1) % stage.accounts.length];
      const room = openRoom({
        url: stage.url,
        requests: requests(plan.account),
        stranger: requests(stranger ?? ""),
        plan,
      });
      rooms.push(room);
      await room.perform(givenUp);
      if (!isOver.aborted) await room.retire(options.patienceMs / 4);
    }
  };
  await Promise.all(Array.from({ length: options.roomsAtOnce }, workOn));
}

interface LaneOptions {
  readonly lane: Lane;
  readonly plan: readonly Fault[];
  readonly performed: PerformedFault[];
  readonly isOver: AbortSignal;
  readonly since: () => number;
  readonly progress: (line: string) => void;
}

async function breakLane(stage: ChaosStage, options: LaneOptions): Promise<void> {
  const { lane, plan, performed, isOver, since, progress } = options;
  for (const fault of plan.filter((each) => each.lane === lane)) {
    await delay(fault.restMs, undefined, { signal: isOver }).catch(() => {});
    if (isOver.aborted) return;
    const from = since();
    const hit = await performFault(stage, fault);
    performed.push({ ...fault, from, to: since(), hit });
    progress(
      `${Math.round(from / 1_000)} s: ${fault.kind} ${hit}, ${Math.round((since() - from) / 100) / 10} s`,
    );
  }
}

async function mend({ instances, front }: ChaosStage): Promise<void> {
  for (const { server, clock } of instances) {
    server.resume();
    clock?.jumpTo(0);
  }
  front.cut();
  await Promise.all(instances.map((instance) => instance.bringBack()));
}

async function readHistory(
  stage: ChaosStage,
  rooms: readonly Room[],
  { patienceMs, progress }: ChaosOptions,
): Promise<History> {
  const unfinished = rooms.flatMap((room) => {
    const words = room.doing();
    return words === undefined ? [] : [{ thread: room.label, words }];
  });
  await untilNoneIsOpen(stage, patienceMs);
  const histories = [];
  for (const room of rooms) histories.push(await room.history(patienceMs / 4));
  const threads = await readRows(stage, histories);
  progress("all threads are read; comparing");
  return {
    threads,
    charges: stage.litellm && (await readCharges(stage, stage.litellm, patienceMs)),
    unfinished,
    trespasses: rooms.flatMap((room) => room.trespasses()),
  };
}

async function untilNoneIsOpen({ administer }: ChaosStage, patienceMs: number): Promise<void> {
  const until = performance.now() + patienceMs;
  const countOpen = () =>
    administer(async (client) => {
      const { rows } = await client.query<{ open: number }>(
        "select count(*)::integer as open from throughline.runs where ended_at is null",
      );
      return rows[0]?.open ?? 0;
    });
  while ((await countOpen()) > 0 && performance.now() < until) await delay(500);
}
