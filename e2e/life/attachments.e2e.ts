import { randomUUID } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readEvents, typesOf } from "../../packages/langgraph-server/src/testing/sse-events.js";
import { agentRoutes } from "../server/rig/agent-routes.js";
import { type RigPostgres, startPostgres } from "../server/rig/start-postgres.js";
import { type RigServer, startServer } from "../server/rig/start-server.js";

const PICTURE = Buffer.concat([
  Buffer.from("89504e470d0a1a0a", "hex"),
  Buffer.from(`${randomUUID()} `.repeat(2_000)),
]);
const DATA = PICTURE.toString("base64");

let postgres: RigPostgres;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.stop());

describe.each(["in the database", "in a folder"])("A picture kept %s", (where) => {
  let server: RigServer;
  let databaseUrl: string;
  const folder = where === "in a folder" ? mkdtempSync(join(tmpdir(), "throughline-files-")) : undefined;
  beforeAll(async () => {
    databaseUrl = await postgres.createDatabase();
    server = await startServer({
      databaseUrl,
      ...(folder !== undefined && { env: { THROUGHLINE_ATTACHMENTS_DIR: folder } }),
    });
  });
  afterAll(async () => {
    await server.stop();
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  });

  it("is talked about over several turns, and its bytes are in one place only", async () => {
    const threadId = randomUUID();
    const routes = agentRoutes(server.url);
    const picture = { type: "binary", mimeType: "image/png", data: DATA, filename: "cat.png" };
    for (const content of [[{ type: "text", text: "Look." }, picture], "And now?", [picture]]) {
      const input = { threadId, messages: [{ id: randomUUID(), role: "user", content }] };
      const events = await readEvents(await routes.run("chat", input));
      expect(typesOf(events).at(-1)).toBe("RUN_FINISHED");
      if (typeof content !== "string") {
        expect(events.map(({ data }) => data.delta ?? "").join("")).toContain(
          `cat.png (image/png, ${PICTURE.length} bytes)`,
        );
      }
    }
    const files = folder === undefined ? [] : filesIn(folder);
    expect(files).toHaveLength(folder === undefined ? 0 : 1);
    for (const file of files) expect(readFileSync(file).equals(PICTURE)).toBe(true);
    expect(await tablesHolding(databaseUrl, PICTURE)).toEqual(
      folder === undefined ? ["throughline.attachment_chunks"] : [],
    );
  });
});

function filesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** Every table of ours and of LangGraph's with the bytes in any row, raw or as base64 at any offset within it. */
async function tablesHolding(url: string, bytes: Buffer): Promise<readonly string[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      `select schemaname || '.' || tablename as name from pg_tables where schemaname in ('throughline', 'langgraph')`,
    );
    const raw = bytes.subarray(3_000, 3_060).toString("hex");
    const encoded = DATA.slice(4_000, 4_060);
    const holding: string[] = [];
    for (const { name } of tables) {
      const { rowCount } = await client.query(
        `select 1 from ${name} t where position($1 in t::text) > 0 or position($2 in t::text) > 0
           or position($3 in t::text) > 0 limit 1`,
        [raw, encoded, Buffer.from(encoded).toString("hex")],
      );
      if ((rowCount ?? 0) > 0) holding.push(name);
    }
    return holding;
  } finally {
    await client.end();
  }
}
