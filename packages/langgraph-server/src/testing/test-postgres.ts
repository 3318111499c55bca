import { randomBytes } from "node:crypto";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { startEmbeddedPostgres } from "@throughline/embedded-postgres";
import pg from "pg";

export interface TestPostgres {
  readonly url: string;
  close(): Promise<void>;
}

/** A database of its own, on `LANGGRAPH_DATABASE_URL` or on a server that all test files share. */
export async function openTestPostgres(): Promise<TestPostgres> {
  const given = process.env.LANGGRAPH_DATABASE_URL;
  const dataDir = join(tmpdir(), `throughline-tests-${userInfo().uid}`, "server-postgres-18");
  const server = given === undefined ? await startEmbeddedPostgres({ dataDir }) : undefined;
  const administration = given ?? server?.url ?? "";
  const name = `test_${Math.floor(Date.now() / 1_000)}_${randomBytes(6).toString("hex")}`;
  await query(administration, `create database ${name}`);
  const url = new URL(administration);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    async close() {
      await query(administration, `drop database if exists ${name} with (force)`);
      await server?.stop();
    },
  };
}

async function query(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
