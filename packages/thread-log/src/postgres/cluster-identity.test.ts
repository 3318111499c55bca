import { isStoreOutage } from "@throughline/ai-core";
import pg from "pg";
import { expect, it } from "vitest";
import { renewEpochsAfterRestore } from "./cluster-identity.js";

it("does not take a database that is away for one that hides its identity", async () => {
  const pool = new pg.Pool({ host: "127.0.0.1", port: 1, user: "nobody" });
  const failure: unknown = await renewEpochsAfterRestore(pool, "throughline").catch(
    (error: unknown) => error,
  );
  expect(isStoreOutage(failure)).toBe(true);
  await pool.end();
});
