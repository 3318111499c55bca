import { randomBytes } from "node:crypto";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "@throughline/embedded-postgres";
import pg from "pg";

export interface TestDatabase {
  readonly url: string;
  close(): Promise<void>;
}

const ABANDONED_AFTER_SECONDS = 3_600;

/**
 * A database of its own on a server that all test files share and that stays initialised between runs: a test file pays for
 * a connection, not for a cluster. Tests that kill their server start one of their own.
 */
export async function openTestDatabase(): Promise<TestDatabase> {
  const dataDir = join(tmpdir(), `throughline-tests-${userInfo().uid}`, "postgres-18");
  const server = await startEmbeddedPostgres({ dataDir });
  const name = `test_${Math.floor(Date.now() / 1_000)}_${randomBytes(6).toString("hex")}`;
  await administer(server, async (client) => {
    await client.query(`create database ${name}`);
    await dropAbandoned(client);
  });
  const url = new URL(server.url);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    close: async () => {
      await administer(server, (client) => client.query(`drop database if exists ${name} with (force)`));
      await server.stop();
    },
  };
}

async function administer(server: EmbeddedPostgres, work: (client: pg.Client) => Promise<unknown>) {
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

/** What a killed test run left behind. */
async function dropAbandoned(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ datname: string }>(
    "select datname from pg_database where datname ~ '^test_[0-9]+_' and split_part(datname, '_', 2)::bigint < $1",
    [Math.floor(Date.now() / 1_000) - ABANDONED_AFTER_SECONDS],
  );
  for (const { datname } of rows) await client.query(`drop database if exists ${datname} with (force)`);
}
