import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPostgresCheckpointer } from "./postgres-checkpointer.js";
import { type PostgresFixture, startPostgresFixture } from "./postgres-fixture.js";

describe("A PostgreSQL checkpointer", () => {
  let postgres: PostgresFixture;
  beforeAll(async () => {
    postgres = await startPostgresFixture();
  });
  afterAll(() => postgres.stop());

  it("is set up by several instances at once", async () => {
    const checkpointers = Array.from({ length: 4 }, () =>
      createPostgresCheckpointer({ connectionString: postgres.url, schema: "together" }),
    );
    await Promise.all(checkpointers.map((checkpointer) => checkpointer.setup()));
    for (const { saver } of checkpointers) {
      expect(await saver.getTuple({ configurable: { thread_id: "none" } })).toBeUndefined();
    }
    await Promise.all(checkpointers.map((checkpointer) => checkpointer.close()));
  });

  it("leaves a pool open that it was lent", async () => {
    const pool = new pg.Pool({ connectionString: postgres.url, max: 2 });
    const checkpointer = createPostgresCheckpointer({ pool });
    await checkpointer.setup();
    await checkpointer.close();
    const { rows } = await pool.query("select 1 as one");
    expect(rows).toEqual([{ one: 1 }]);
    await pool.end();
  });
});
