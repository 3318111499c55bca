import fc from "fast-check";
import { describe, it } from "vitest";
import type { LogStore } from "../log/log-store.js";
import { type LogPlan, logCommands, logCommandsWithRestarts } from "./log-commands.js";
import type { LogStoreFixture } from "./log-scene.js";
import { createLogWorld, openSeats, type Seats, type WrapStore } from "./log-world.js";

export interface LogModelOptions {
  /** How many cases run beside one another; a store that waits for a disk or a network gains by it. */
  readonly lanes: number;
  /** Lets fast-check decide in which order the store's answers and wake-ups arrive. For a store that answers at once. */
  readonly scheduled: boolean;
  /** Commands in a case: every case pays for each, and there are many. */
  readonly maxCommands: number;
  /** `THROUGHLINE_MODEL_CASES` says otherwise. */
  readonly cases?: number;
}

const DEFAULT_CASES = 1_000;
const SEED = Number(process.env.THROUGHLINE_SEED);
const PATH = process.env.THROUGHLINE_MODEL_PATH;
/** One case in so many has restarts among its commands. */
const RESTARTS_ONE_IN = Math.max(2, Number(process.env.THROUGHLINE_MODEL_RESTARTS_ONE_IN ?? 100));

/**
 * The log above a store: random interleavings of writers, watchers, trims, takeovers, deletions and restarts against a list.
 * What a store itself does under concurrency is `storeModel`'s. A failure prints its seed and path; `THROUGHLINE_SEED` and
 * `THROUGHLINE_MODEL_PATH` run that case again.
 */
export function runLogModel(
  name: string,
  openFixture: () => Promise<LogStoreFixture>,
  { lanes, scheduled, maxCommands, cases = DEFAULT_CASES }: LogModelOptions,
): void {
  const total = Number(process.env.THROUGHLINE_MODEL_CASES ?? cases);
  describe(`${name}, under random interleavings`, () => {
    it(
      `loses, doubles and reorders nothing and announces every gap, in ${total} cases`,
      async () => {
        const count = PATH === undefined ? Math.min(lanes, total) : 1;
        await Promise.all(
          Array.from({ length: count }, (_, lane) => runLane(SEED + lane, Math.ceil(total / count))),
        );
      },
      total * 100 + 30_000,
    );
  });

  /** On a database of its own: a restart breaks all connections, and other lanes need not pay for making them again. */
  async function runLane(seed: number, numRuns: number): Promise<void> {
    const fixture = await openFixture();
    const gate = createGate();
    const seats = await openSeats(fixture, scheduled ? gate.wrap : (store) => store);
    const commands = fc.oneof(
      { weight: RESTARTS_ONE_IN - 1, arbitrary: logCommands(maxCommands) },
      { weight: 1, arbitrary: logCommandsWithRestarts },
    );
    const property = fc.asyncProperty(fc.scheduler(), commands, async (scheduler, sequence) => {
      const open = scheduled ? gate.through(scheduler) : () => {};
      try {
        await runCase(seats, sequence);
      } finally {
        open();
      }
    });
    try {
      await fc.assert(property, {
        seed,
        numRuns,
        ...(PATH === undefined ? {} : { path: PATH }),
        endOnFailure: PATH !== undefined || !scheduled,
      });
    } finally {
      await seats.close();
      await fixture.close();
    }
  }
}

async function runCase(
  seats: Seats,
  sequence: Iterable<fc.AsyncCommand<LogPlan, ReturnType<typeof createLogWorld>>>,
): Promise<void> {
  const world = createLogWorld(seats);
  try {
    await fc.asyncModelRun(() => ({ model: { opened: false, deleted: false }, real: world }), sequence);
  } finally {
    await world.conclude();
  }
}

interface Gate {
  readonly wrap: WrapStore;
  /** Until the returned function is called, the scheduler decides. */
  through(scheduler: fc.Scheduler): () => void;
}

/** Every answer of the store waits here for its turn, so that a slow read and a fast commit can overtake each other. */
function createGate(): Gate {
  let current: fc.Scheduler | undefined;
  const gated = <T>(work: () => Promise<T>, label: string): Promise<T> =>
    current ? current.schedule(work(), label) : work();
  return {
    wrap: (store): LogStore => ({
      ...store,
      read: (requests, limit) => gated(() => store.read(requests, limit), "read"),
      commit: (batch) => gated(() => store.commit(batch), "commit"),
      subscribe: (listener) =>
        store.subscribe((wake) => void gated(async () => {}, "wake").then(() => listener(wake))),
    }),
    through(scheduler) {
      current = scheduler;
      let open = false;
      const pump = async () => {
        while (!open || scheduler.count() > 0) {
          if (scheduler.count() > 0) await scheduler.waitOne();
          else await new Promise(setImmediate);
        }
      };
      void pump();
      return () => {
        open = true;
        current = undefined;
      };
    },
  };
}
