import { randomBytes } from "node:crypto";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { startEmbeddedPostgres } from "@throughline/embedded-postgres";
import pg from "pg";

/** A PostgreSQL that the servers of one test file share; each has a database of its own. */
export interface RigPostgres {
  /** The URL of a new, empty database. */
  createDatabase(): Promise<string>;
  /** Drops what was created. */
  stop(): Promise<void>;
}

/** `LANGGRAPH_DATABASE_URL`, or an embedded one whose folder stays initialised from run to run. */
export async function startPostgres(): Promise<RigPostgres> {
  const given = process.env.LANGGRAPH_DATABASE_URL;
  const dataDir = join(tmpdir(), `throughline-tests-${userInfo().uid}`, "e2e-postgres-18");
  const embedded = given === undefined ? await startEmbeddedPostgres({ dataDir }) : undefined;
  const administration = given ?? embedded?.url ?? "";
  const created: string[] = [];
  return {
    async createDatabase() {
      const name = `e2e_${randomBytes(8).toString("hex")}`;
      await administer(administration, `create database ${name}`);
      created.push(name);
      const url = new URL(administration);
      url.pathname = `/${name}`;
      return url.href;
    },
    async stop() {
      for (const name of created.splice(0)) {
        await administer(administration, `drop database if exists ${name} with (force)`);
      }
      await embedded?.stop();
    },
  };
}

async function administer(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
