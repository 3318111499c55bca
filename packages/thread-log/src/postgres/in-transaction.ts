import type pg from "pg";

/** Commits when the work resolves, else rolls back; a connection in doubt is not given back to the pool. */
export async function inTransaction<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  let failure: Error | undefined;
  // Between two statements nobody waits for an answer, and an error without a listener would end the process.
  const onError = (error: Error) => {
    failure = error;
  };
  client.on("error", onError);
  try {
    await client.query("begin");
    const result = await work(client);
    await client.query("commit");
    return result;
  } catch (error) {
    await client.query("rollback").catch((cause: unknown) => {
      failure = cause instanceof Error ? cause : new Error("rollback failed");
    });
    throw error;
  } finally {
    client.off("error", onError);
    client.release(failure);
  }
}
