import { expect, vi } from "vitest";
import type { Instance } from "../../outages/rig/outage-stage.js";

type MessageKind = "published" | "received" | "undelivered";

/** A metric of one instance; 0 where it is not there. */
async function metricOf({ ask }: Instance, name: string, label = ""): Promise<number> {
  const text = await (await ask("/metrics")).text();
  const found = text
    .split("\n")
    .find((each) => each.startsWith(`throughline_${name}{`) && each.includes(label));
  return found === undefined ? 0 : Number(found.slice(found.lastIndexOf(" ")));
}

export function busMessages(instance: Instance, kind: MessageKind): Promise<number> {
  return metricOf(instance, "bus_messages_total", `kind="${kind}"`);
}

export async function untilBusIs(state: "connected" | "away", instances: readonly Instance[]): Promise<void> {
  for (const instance of instances) {
    await vi.waitFor(
      async () => expect(await metricOf(instance, "bus_connected")).toBe(state === "connected" ? 1 : 0),
      { timeout: 30_000, interval: 50 },
    );
  }
}
