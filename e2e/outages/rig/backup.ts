import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { DEBIAN_POSTGRES_BIN } from "../../../packages/thread-log/src/testing/launch-debian-postgres.js";

const execute = promisify(execFile);
const program = (name: string) => join(DEBIAN_POSTGRES_BIN, name);

/** A dump of a database as of one moment. */
export interface Backup {
  /** Into a new, empty database of the server at `url`; gives its URL. */
  restore(url: string): Promise<string>;
  remove(): void;
}

/** The commands of `docs/operations.md`; whatever uses the database goes on meanwhile. */
export async function takeBackup(url: string): Promise<Backup> {
  const folder = mkdtempSync(join(tmpdir(), "throughline-backup-"));
  const file = join(folder, "throughline.dump");
  await execute(program("pg_dump"), ["--format=custom", `--file=${file}`, url]);
  return {
    async restore(server) {
      const target = new URL(server);
      const name = `restored_${randomBytes(4).toString("hex")}`;
      await execute(program("createdb"), [`--maintenance-db=${server}`, name]);
      target.pathname = `/${name}`;
      await execute(program("pg_restore"), [
        "--exit-on-error",
        "--no-owner",
        `--dbname=${target.href}`,
        file,
      ]);
      return target.href;
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** How many rows each table of ours and of LangGraph's has. */
export async function countTables(url: string): Promise<ReadonlyMap<string, number>> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string }>(
      `select schemaname || '.' || tablename as name from pg_tables where schemaname in ('throughline', 'langgraph') order by name`,
    );
    const counts = new Map<string, number>();
    for (const { name } of rows) {
      const { rows: counted } = await client.query<{ count: number }>(
        `select count(*)::int as count from ${name}`,
      );
      counts.set(name, counted[0]?.count ?? 0);
    }
    return counts;
  } finally {
    await client.end();
  }
}
