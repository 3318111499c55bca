import { afterAll, beforeAll, describe, it } from "vitest";
import { claimCases } from "./claim-cases.js";
import { fenceCases } from "./fence-cases.js";
import { finishCases } from "./finish-cases.js";
import { leaseCases } from "./lease-cases.js";
import { neighbourCases } from "./neighbour-cases.js";
import { pruneCases } from "./prune-cases.js";
import { queueCases } from "./queue-cases.js";
import { type RegistryCase, type RegistryFixture, withRegistryScene } from "./registry-scene.js";
import { startCases } from "./start-cases.js";

export const REGISTRY_CASES: readonly RegistryCase[] = [
  ...startCases,
  ...queueCases,
  ...claimCases,
  ...leaseCases,
  ...neighbourCases,
  ...fenceCases,
  ...finishCases,
  ...pruneCases,
];

/** What every run registry promises, or a part of it. */
export function runRegistryConformance(
  name: string,
  openFixture: () => Promise<RegistryFixture>,
  cases: readonly RegistryCase[] = REGISTRY_CASES,
): void {
  describe(`${name} keeps what every run registry promises`, () => {
    let fixture: RegistryFixture;
    beforeAll(async () => {
      fixture = await openFixture();
    });
    afterAll(() => fixture?.close());

    for (const { name: promise, run } of cases) {
      it(promise, () => withRegistryScene(fixture, run));
    }
  });
}
