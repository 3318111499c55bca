import { setImmediate as turn } from "node:timers/promises";
import { isStoreOutage, type LogPosition } from "@throughline/ai-core";
import fc from "fast-check";
import { expect } from "vitest";
import type { LogWorld } from "./log-world.js";

/** What the commands themselves need to know to be worth trying; everything else is the oracle's. */
export interface LogPlan {
  opened: boolean;
  deleted: boolean;
}

type LogCommand = fc.AsyncCommand<LogPlan, LogWorld>;

function command(
  text: string,
  check: (plan: LogPlan) => boolean,
  run: (world: LogWorld, plan: LogPlan) => Promise<void>,
): LogCommand {
  return { check, run: (plan, world) => run(world, plan), toString: () => text };
}

const seat = fc.nat(1);
const always = () => true;

/** A newer lease, announced by either instance. From its return on the one before is a zombie. */
const takeover = fc
  .record({ seat })
  .map((at) => command(`takeover(${at.seat})`, always, (world, plan) => open(world, plan, at.seat)));

async function open(world: LogWorld, plan: LogPlan, seat: number): Promise<void> {
  await world.takeOver(seat);
  plan.opened = true;
  plan.deleted = false;
}

const append = fc.record({ seat, count: fc.integer({ min: 1, max: 6 }), waits: fc.boolean() }).map((at) =>
  command(`append(${at.seat}, ${at.count}${at.waits ? "" : ", aside"})`, always, async (world, plan) => {
    if (!plan.opened || plan.deleted) await open(world, plan, at.seat);
    const appending = world.append(at.seat, world.token, at.count, true);
    if (!at.waits) return world.aside(appending);
    expect(await appending, "the newest lease may write").toBe(true);
  }),
);

const zombieAppend = fc.record({ seat }).map((at) =>
  command(
    `zombieAppend(${at.seat})`,
    ({ opened }) => opened,
    async (world) => {
      expect(await world.append(at.seat, world.token - 1n, 1), "an older lease may not").toBe(false);
    },
  ),
);

/** From the start, from a place that was acknowledged, or from one that never was. */
const place = fc.oneof(
  { weight: 3, arbitrary: fc.constant("start" as const) },
  { weight: 3, arbitrary: fc.nat(1_000) },
  { weight: 1, arbitrary: fc.constantFrom("foreign" as const, "ahead" as const) },
);

const watch = fc.record({ seat, place, maxBuffered: fc.integer({ min: 1, max: 6 }) }).map((at) =>
  command(`watch(${at.seat}, ${at.place}, ${at.maxBuffered})`, always, async (world) => {
    world.watch(at.seat, await position(world, at), at.maxBuffered);
  }),
);

async function position(
  world: LogWorld,
  { seat, place: at }: { seat: number; place: number | "start" | "foreign" | "ahead" },
): Promise<LogPosition | undefined> {
  if (at === "foreign") return { epoch: "foreign", seq: 3 };
  if (at === "start") return undefined;
  const head = await world.log(seat).head(world.thread);
  if (head === undefined) return undefined;
  return { epoch: head.epoch, seq: at === "ahead" ? head.seq + 1_000 : at % (head.seq + 1) };
}

/** A watcher goes, and comes back with the cursor it had, wherever. */
const dropAndResume = fc
  .record({ seat, which: fc.nat(20), maxBuffered: fc.integer({ min: 1, max: 6 }) })
  .map((at) =>
    command(`dropAndResume(${at.seat}, ${at.which})`, always, async (world) => {
      const dropped = world.watches[at.which % Math.max(1, world.watches.length)];
      if (!dropped || dropped.end !== undefined) return;
      dropped.leave.abort();
      await dropped.running;
      dropped.end ??= "dropped";
      world.watch(at.seat, dropped.seen.at(-1) ?? dropped.after, at.maxBuffered);
    }),
  );

const hold = fc.record({ which: fc.nat(20), held: fc.boolean() }).map(({ which, held }) =>
  command(`${held ? "hold" : "letGo"}(${which})`, always, async (world) => {
    const watched = world.watches[which % Math.max(1, world.watches.length)];
    watched?.hold.set(held);
  }),
);

/** An instance that closes leaves its trims unanswered, done or not: the next one says how far they came. */
async function trimUntilAnswered(world: LogWorld, at: { seat: number; keep: number }): Promise<number> {
  for (;;) {
    try {
      return (await world.log(at.seat).trim(world.thread, { maxEntries: at.keep })).floor;
    } catch (error) {
      if (!isStoreOutage(error)) throw error;
      await turn();
    }
  }
}

const trim = fc.record({ seat, keep: fc.nat(6), waits: fc.boolean() }).map((at) =>
  command(`trim(${at.seat}, ${at.keep})`, always, async (world) => {
    const trimming = (async () => {
      world.oracle.trimmed(await trimUntilAnswered(world, at));
    })();
    if (at.waits) await trimming;
    else world.aside(trimming);
  }),
);

const remove = fc.record({ seat }).map((at) =>
  command(
    `delete(${at.seat})`,
    ({ opened }) => opened,
    async (world, plan) => {
      world.oracle.deleted();
      await world.log(at.seat).deleteThread(world.thread);
      plan.deleted = true;
    },
  ),
);

const restart = fc
  .record({ seat })
  .map((at) => command(`restart(${at.seat})`, always, (world) => world.restart(at.seat)));

/**
 * Weighted by how often such things happen; an append is several entries, so that threads grow long enough to be worth
 * trimming.
 */
export function logCommands(maxCommands: number) {
  const kinds = [
    takeover,
    ...Array.from({ length: 5 }, () => append),
    zombieAppend,
    ...Array.from({ length: 3 }, () => watch),
    dropAndResume,
    dropAndResume,
    hold,
    trim,
    remove,
  ];
  return fc.commands(kinds, { maxCommands, size: "max" });
}

/** The same with restarts among them: dear, so only some cases have them. */
export const logCommandsWithRestarts = fc.commands(
  [takeover, append, append, append, append, watch, watch, dropAndResume, trim, remove, restart],
  { maxCommands: 16, size: "max" },
);
