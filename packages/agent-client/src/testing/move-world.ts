import type { SimulatedClock } from "@throughline/ai-core";
import type { createModelNetwork } from "./model-network.js";
import type { ModelThread } from "./model-thread.js";

/** What happens to a model by itself, whichever tab is visible. */
const WORLD_MOVES = ["arrive", "lose", "cut", "beat", "time", "go-on", "elsewhere"] as const;
type WorldMove = (typeof WORLD_MOVES)[number];

const WAITS = [50, 400, 600, 1_100, 5_100, 16_000] as const;

interface MovedWorld {
  readonly clock: SimulatedClock;
  readonly thread: ModelThread;
  readonly network: ReturnType<typeof createModelNetwork>;
}

/** One step of a schedule: the world's own, or what `moveOwn` does. */
export function takeStep<Kind extends string>(
  world: MovedWorld,
  { kind, pick }: { readonly kind: Kind; readonly pick: number },
  moveOwn: (kind: Exclude<Kind, WorldMove>, pick: number) => void,
): void {
  const move = WORLD_MOVES.find((one) => one === kind);
  if (move) moveWorld(world, move, pick);
  else if (isOwn(kind)) moveOwn(kind, pick);
}

function moveWorld({ clock, thread, network }: MovedWorld, kind: WorldMove, pick: number): void {
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

function isOwn<Kind extends string>(kind: Kind): kind is Exclude<Kind, WorldMove> {
  return !WORLD_MOVES.some((move) => move === kind);
}

/** Nothing is lost any more, nothing is asked for, runs end: until all is at rest, or two minutes of that. */
export async function calmDown(
  { clock, thread, network }: MovedWorld,
  isQuiet: () => boolean,
): Promise<void> {
  for (let round = 0; round < 240; round += 1) {
    await breathe();
    for (let more = 0; network.settle() && more < 50; more += 1) await breathe();
    if (round > 20 && !thread.openRun() && isQuiet()) return;
    thread.finish();
    network.beat();
    clock.advance(500);
  }
}

/** Lets every promise that can go on go on. */
export function breathe(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
