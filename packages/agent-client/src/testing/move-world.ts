import type { SimulatedClock } from "@throughline/ai-core";
import type { createModelNetwork } from "./model-network.js";
import type { ModelThread } from "./model-thread.js";

/** What happens to a model by itself, whichever tab is visible. */
export const WORLD_MOVES = ["arrive", "lose", "cut", "beat", "time", "go-on", "elsewhere"] as const;
export type WorldMove = (typeof WORLD_MOVES)[number];

const WAITS = [50, 400, 600, 1_100, 5_100, 16_000] as const;

export interface MovedWorld {
  readonly clock: SimulatedClock;
  readonly thread: ModelThread;
  readonly network: ReturnType<typeof createModelNetwork>;
}

export function moveWorld({ clock, thread, network }: MovedWorld, kind: WorldMove, pick: number): void {
  switch (kind) {
    case "arrive":
      network.arrive(pick);
      break;
    case "lose":
      network.lose(pick);
      break;
    case "cut":
      network.cut(pick);
      break;
    case "beat":
      network.beat();
      break;
    case "time":
      clock.advance(WAITS[pick % WAITS.length] ?? 0);
      break;
    case "go-on":
      thread.goOn(pick);
      break;
    case "elsewhere":
      thread.startElsewhere();
      break;
  }
}

export function isWorldMove(kind: string): kind is WorldMove {
  return WORLD_MOVES.some((move) => move === kind);
}

/** Lets every promise that can go on go on. */
export function breathe(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
