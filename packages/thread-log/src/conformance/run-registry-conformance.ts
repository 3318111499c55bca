import { afterAll, beforeAll, describe, it } from "vitest";
import { leaseCases } from "./lease-cases.js";
import { pruneCases } from "./prune-cases.js";
import { queueCases } from "./queue-cases.js";
import { type RegistryFixture, withRegistryScene } from "./registry-scene.js";

/** What every run registry promises. */
export function runRegistryConformance(name: string, openFixture: () => Promise<RegistryFixture>): void {
  describe(`${name} keeps what every run registry promises`, () => {
    let fixture: RegistryFixture;
    beforeAll(async () => {
      fixture = await openFixture();
    });
    afterAll(() => fixture?.close());

    for (const { name: promise, run } of [...queueCases, ...leaseCases, ...pruneCases]) {
      it(promise, () => withRegistryScene(fixture, run));
    }
  });
}
