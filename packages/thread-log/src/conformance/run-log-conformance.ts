import { afterAll, beforeAll, describe, it } from "vitest";
import { appendCases } from "./append-cases.js";
import { compactionCases } from "./compaction-cases.js";
import { type LogCase, type LogStoreFixture, withScene } from "./log-scene.js";
import { peerBugCases } from "./peer-bug-cases.js";
import { rebuildCases } from "./rebuild-cases.js";
import { retentionCases } from "./retention-cases.js";
import { storeCases } from "./store-cases.js";
import { tailCases } from "./tail-cases.js";

export const LOG_CASES: readonly LogCase[] = [
  ...appendCases,
  ...tailCases,
  ...rebuildCases,
  ...retentionCases,
  ...peerBugCases,
  ...compactionCases,
  ...storeCases,
];

/** What every store promises. A store's own test file calls this with a database of its kind. */
export function runLogConformance(name: string, openFixture: () => Promise<LogStoreFixture>): void {
  describe(`${name} keeps what every log store promises`, () => {
    let fixture: LogStoreFixture;
    beforeAll(async () => {
      fixture = await openFixture();
    });
    afterAll(() => fixture?.close());

    for (const { name: promise, run } of LOG_CASES) {
      it(promise, () => withScene(fixture, run));
    }
  });
}
