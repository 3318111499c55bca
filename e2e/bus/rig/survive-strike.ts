import { expect } from "vitest";
import { conductOutage } from "../../outages/rig/conduct-outage.js";
import type { OutageStage } from "../../outages/rig/outage-stage.js";
import type { Strike } from "../../outages/rig/strikes.js";
import { busMessages } from "./bus-metrics.js";

export interface RedisStrike {
  readonly title: string;
  readonly strike: Strike;
  readonly runs: number;
  /** Of `undisturbedState()`. */
  readonly undisturbed: unknown;
}

/** Strikes at Redis under runs whose viewers are on the other instance, and expects what is expected with no strike at all. */
export async function surviveStrike(stage: OutageStage, { strike, ...outage }: RedisStrike): Promise<void> {
  const { instances } = stage;
  const received = () => Promise.all(instances.map((instance) => busMessages(instance, "received")));
  let readiness: Promise<readonly number[]> | undefined;
  let atMending: readonly number[] = [];
  await conductOutage(stage, {
    ...outage,
    keepsStreams: true,
    async strike(struck, onBroken) {
      await strike(struck, () => {
        onBroken();
        readiness = Promise.all(instances.map(async ({ ask }) => (await ask("/ready")).status));
      });
      atMending = await received();
    },
  });
  expect(await readiness).toEqual([200, 200]);
  // What the runs said after the strike went through Redis again.
  const atEnd = await received();
  expect(atEnd.map((count, index) => count > (atMending[index] ?? 0))).toEqual([true, true]);
}
