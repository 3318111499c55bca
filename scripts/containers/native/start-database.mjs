// @ts-check
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "../../workspace-packages.mjs";

const DATABASE = "langgraph_dev";

/**
 * The PostgreSQL that the service brings along, with the database that the containers have.
 *
 * @param {string} dataDir
 * @returns {Promise<{ url: string; stop(): Promise<void> }>}
 */
export async function startDatabase(dataDir) {
  const embedded = join(root, "packages", "embedded-postgres");
  const { startEmbeddedPostgres } = await import(pathToFileURL(join(embedded, "dist", "index.js")).href);
  /** @type {import("../../../packages/embedded-postgres/dist/index.js").EmbeddedPostgres} */
  const server = await startEmbeddedPostgres({ dataDir, log: console.log });
  const pg = createRequire(join(embedded, "package.json"))("pg");
  const client = new pg.Client(server.url);
  await client.connect();
  const { rowCount } = await client.query("select from pg_database where datname = $1", [DATABASE]);
  if (rowCount === 0) await client.query(`create database ${DATABASE}`);
  await client.end();
  const url = new URL(server.url);
  url.pathname = `/${DATABASE}`;
  return { url: url.href, stop: () => server.stop() };
}
