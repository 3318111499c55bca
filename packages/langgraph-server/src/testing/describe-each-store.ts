import { afterAll, beforeAll, describe } from "vitest";
import type { ServiceStore } from "../server/create-service.js";
import { openTestPostgres, type TestPostgres } from "./test-postgres.js";

/** The same tests with everything in memory and in PostgreSQL. `%s` of the title is which; call `storeOf` in hooks and tests only. */
export function describeEachStore(title: string, tests: (storeOf: () => ServiceStore) => void): void {
  let postgres: TestPostgres;
  beforeAll(async () => {
    postgres = await openTestPostgres();
  });
  afterAll(() => postgres.close());
  describe.each([
    ["memory", (): ServiceStore => ({ kind: "memory" })],
    ["PostgreSQL", (): ServiceStore => ({ kind: "postgres", databaseUrl: postgres.url })],
  ])(title, (_, storeOf) => tests(storeOf));
}
