import { seededRandom } from "../../e2e/server/rig/seeded-random.js";

/** What a person does in a thread. */
export type Deed =
  /** Asks and reads to the end. */
  | "ask"
  /** Asks and leaves at once. */
  | "leave"
  /** Sends the same request to several instances at once. */
  | "resend"
  | "stop"
  /** Asks again while the first run is open: behind it, or in its place. */
  | "queue"
  | "preempt"
  /** Asks, waits for the question, and answers it, twice. */
  | "answer"
  /** Asks, and leaves the question open. */
  | "ignore"
  /** A command with a mutation id, sent more than once. */
  | "mutate";

export interface RoomPlan {
  readonly account: string;
  readonly agent: "speaker" | "asker" | "sentinel";
  /** Tenants use the same names. */
  readonly threadId: string;
  /** By hand over HTTP, or with the client that pages use. */
  readonly by: "hand" | "client";
  readonly deeds: readonly PlannedDeed[];
  /** Of its viewers: the time one takes over each piece of a stream; 0 for one that is as fast as it can be. */
  readonly viewers: readonly ViewerPlan[];
}

export interface PlannedDeed {
  readonly deed: Deed;
  /** What the model is to do, as `openai-upstream` reads it. */
  readonly plan: string;
  /** Before the deed. */
  readonly restMs: number;
  /** In the middle of one: before the stop, the second request, the answer. */
  readonly pauseMs: number;
}

export interface ViewerPlan {
  readonly view: "envelopes" | "ag-ui";
  readonly chunkMs: number;
}

const SPEAKER_DEEDS: readonly Deed[] = ["ask", "ask", "leave", "resend", "stop", "queue", "preempt"];
const ASKER_DEEDS: readonly Deed[] = ["answer", "answer", "answer", "ignore"];
const SLOW_MS = 400;

/** The rooms that people come to, one after the other: the same for the same seed. */
export function* planRooms(options: {
  readonly seed: number;
  readonly accounts: readonly string[];
  readonly deeds: number;
}): Generator<RoomPlan> {
  const { seed, accounts, deeds } = options;
  const random = seededRandom(seed * 17 + 5);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const plan = () =>
    `tokens=${3 + Math.floor(random() ** 2 * 60)} delay=${Math.floor(random() * 120)} tools=${random() < 0.3 ? 1 : 0}`;
  for (let index = 0; ; index += 1) {
    const agent = pick(["speaker", "speaker", "speaker", "asker", "sentinel"] as const);
    const choices =
      agent === "speaker" ? SPEAKER_DEEDS : agent === "asker" ? ASKER_DEEDS : (["mutate"] as const);
    yield {
      agent,
      account: accounts[index % accounts.length] as string,
      threadId: `room-${Math.floor(index / accounts.length)}`,
      by: agent !== "sentinel" && random() < 0.4 ? "client" : "hand",
      deeds: Array.from({ length: deeds }, (_, at) => ({
        deed: notBeforeTheLast(pick(choices), at === deeds - 1),
        plan: plan(),
        restMs: Math.floor(random() * 1_500),
        pauseMs: Math.floor(random() * 2_500),
      })),
      viewers: [
        { view: "envelopes", chunkMs: 0 },
        { view: "ag-ui", chunkMs: 0 },
        { view: pick(["envelopes", "ag-ui"] as const), chunkMs: random() < 0.3 ? SLOW_MS : 0 },
      ],
    };
  }
}

/** A question that is left open refuses every other deed. */
function notBeforeTheLast(deed: Deed, isLast: boolean): Deed {
  return deed === "ignore" && !isLast ? "answer" : deed;
}
