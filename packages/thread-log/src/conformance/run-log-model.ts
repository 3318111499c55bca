import fc from "fast-check";
import { describe, it } from "vitest";
import type { LogStore } from "../port/log-store.js";
import { type LogPlan, logCommands, logCommandsWithRestarts } from "./log-commands.js";
import type { LogStoreFixture } from "./log-scene.js";
import { createLogWorld, openSeats, type Seats, type WrapStore } from "./log-world.js";

export interface LogModelOptions {
  /** How many cases run beside one another; a store that waits for a disk or a network gains by it. */
  readonly lanes: number;
  /** Lets fast-check decide in which order the store's answers and wake-ups arrive. For a store that answers at once. */
  readonly scheduled: boolean;
  /** For a store on which a case costs next to nothing. Default 1. */
  readonly timesAsMany?: number;
}

const CASES = Number(process.env.THROUGHLINE_MODEL_CASES ?? 2_000);
const SEED = Number(process.env.THROUGHLINE_SEED);
const PATH = process.env.THROUGHLINE_MODEL_PATH;
/** One case in so many has restarts among its commands. */
const RESTARTS_ONE_IN = Math.max(2, Number(process.env.THROUGHLINE_MODEL_RESTARTS_ONE_IN ?? 100));

/**
 * Random interleavings of writers, watchers, trims, takeovers, deletions and restarts against a list. A failure prints its
 * seed and path; `THROUGHLINE_SEED` and `THROUGHLINE_MODEL_PATH` run that case again.
 */
export function runLogModel(
  name: string,
  openFixture: () => Promise<LogStoreFixture>,
  { lanes, scheduled, timesAsMany = 1 }: LogModelOptions,
): void {
  const cases = CASES * timesAsMany;
  describe(`${name}, under random interleavings`, () => {
    it(
      `loses, doubles and reorders nothing and announces every gap, in ${cases} cases`,
      async () => {
        const fixture = await openFixture();
        const count = PATH === undefined ? Math.min(lanes, cases) : 1;
        try {
          await Promise.all(
            Array.from({ length: count }, (_, lane) =>
              runLane(fixture, SEED + lane, Math.ceil(cases / count)),
            ),
          );
        } finally {
          await fixture.close();
        }
      },
      cases * 100 + 30_000,
    );
  });

  async function runLane(fixture: LogStoreFixture, seed: number, numRuns: number): Promise<void> {
    const gate = createGate();
    const seats = await openSeats(fixture, scheduled ? gate.wrap : (store) => store);
    const commands = fc.oneof(
      { weight: RESTARTS_ONE_IN - 1, arbitrary: logCommands },
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
