import { readdirSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import pg from "pg";

/** Everywhere a server keeps anything. */
export interface Places {
  readonly databaseUrl: string;
  readonly redisUrl?: string | undefined;
  readonly folder?: string | undefined;
}

/** Every table, Redis key and file with a text in it, in whatever way it holds it. */
export async function placesHolding(places: Places, text: string): Promise<readonly string[]> {
  const { databaseUrl, redisUrl, folder } = places;
  return [
    ...(await tablesHolding(databaseUrl, text)),
    ...(redisUrl !== undefined && (await redisKeysHolding(redisUrl, text)) > 0 ? ["redis"] : []),
    ...(folder === undefined ? [] : filesHolding(folder, text)),
  ];
}

/** All schemas, all columns: a row as text shows bytes as hex. */
async function tablesHolding(url: string, text: string): Promise<readonly string[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables
       where schemaname not in ('pg_catalog', 'information_schema') order by 1`,
    );
    const holding: string[] = [];
    for (const { name } of tables) {
      const { rows } = await client.query<{ count: string }>(
        `select count(*) from ${name} as held where exists (
           select 1 from unnest($1::text[]) as form where position(form in held::text) > 0)`,
        [formsOf(text)],
      );
      if (Number(rows[0]?.count) > 0) holding.push(name);
    }
    return holding;
  } finally {
    await client.end();
  }
}

/** As it is, as hex, and as base64 wherever in a file it begins: the first and last characters depend on their neighbours. */
function formsOf(text: string): readonly string[] {
  const bytes = Buffer.from(text);
  const base64 = [0, 1, 2].map((shift) =>
    Buffer.concat([Buffer.alloc(shift), bytes])
      .toString("base64")
      .slice(4, -4),
  );
  return [text, bytes.toString("hex"), ...base64];
}

const SEARCH = `
local found = 0
for _, key in ipairs(redis.call('KEYS', '*')) do
  local kind, held = redis.call('TYPE', key).ok, {}
  if kind == 'string' then held = {redis.call('GET', key)}
  elseif kind == 'hash' then held = redis.call('HGETALL', key)
  else error('a kind of key nobody expected: ' .. kind) end
  held[#held + 1] = key
  for _, value in ipairs(held) do
    if string.find(value, ARGV[1], 1, true) then found = found + 1 break end
  end
end
return found
`;

function redisKeysHolding(url: string, text: string): Promise<number> {
  const { hostname, port } = new URL(url);
  const parts = ["EVAL", SEARCH, "0", text].map((part) => `$${Buffer.byteLength(part)}\r\n${part}\r\n`);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () =>
      socket.write(`*${parts.length}\r\n${parts.join("")}`),
    );
    socket.once("error", reject);
    socket.once("data", (said) => {
      const [, count] = /^:(\d+)\r\n$/.exec(said.toString()) ?? [];
      if (count === undefined) reject(new Error(said.toString()));
      else resolve(Number(count));
      socket.destroy();
    });
  });
}

function filesHolding(folder: string, text: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => file.includes(text) || readFileSync(file).includes(text));
}
