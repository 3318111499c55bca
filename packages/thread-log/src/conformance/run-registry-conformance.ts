import { afterAll, beforeAll, describe, it } from "vitest";
import { claimCases } from "./claim-cases.js";
import { finishCases } from "./finish-cases.js";
import { leaseCases } from "./lease-cases.js";
import { pruneCases } from "./prune-cases.js";
import { queueCases } from "./queue-cases.js";
import { type RegistryCase, type RegistryFixture, withRegistryScene } from "./registry-scene.js";
import { startCases } from "./start-cases.js";

export const REGISTRY_CASES: readonly RegistryCase[] = [
  ...startCases,
  ...queueCases,
  ...claimCases,
  ...leaseCases,
  ...finishCases,
  ...pruneCases,
];

/** What every run registry promises. */
export function runRegistryConformance(name: string, openFixture: () => Promise<RegistryFixture>): void {
  describe(`${name} keeps what every run registry promises`, () => {
    let fixture: RegistryFixture;
    beforeAll(async () => {
      fixture = await openFixture();
    });
    afterAll(() => fixture?.close());

    for (const { name: promise, run } of REGISTRY_CASES) {
      it(promise, () => withRegistryScene(fixture, run));
    }
  });
}
