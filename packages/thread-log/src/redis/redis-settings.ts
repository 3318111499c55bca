import { createClient } from "redis";

export type RedisSettings = Readonly<Partial<Record<(typeof SETTINGS)[number], string>>>;

const SETTINGS = ["appendonly", "appendfsync", "maxmemory-policy"] as const;

/** A hosted Redis may keep its settings to itself: then nothing is assumed of it. */
export async function readRedisSettings(
  send: (command: readonly string[]) => Promise<unknown>,
): Promise<RedisSettings> {
  const settings: Partial<Record<(typeof SETTINGS)[number], string>> = {};
  for (const name of SETTINGS) {
    const value = valueIn(await send(["CONFIG", "GET", name]).catch(() => undefined), name);
    if (typeof value === "string") settings[name] = value;
  }
  return settings;
}

/** R22: what keeps this Redis from being trusted with a log, each as a sentence that says what to do. */
export async function findRedisProblems(url: string): Promise<readonly string[]> {
  const client = createClient({ url, socket: { reconnectStrategy: false } });
  client.on("error", () => {});
  try {
    await client.connect();
    return problemsOf(await readRedisSettings((command) => client.sendCommand([...command])));
  } catch {
    return ["Redis can't be reached: check REDIS_URL, and that it runs."];
  } finally {
    client.destroy();
  }
}

export function problemsOf(settings: RedisSettings): readonly string[] {
  const { appendonly, "maxmemory-policy": policy } = settings;
  const problems: string[] = [];
  if (appendonly === undefined || policy === undefined) {
    problems.push("Redis does not tell its settings: make sure that it has appendonly yes and noeviction.");
  }
  if (appendonly === "no") {
    problems.push("Redis keeps nothing on disk: set appendonly yes, or a restart loses every live log.");
  }
  if (policy !== undefined && policy !== "noeviction") {
    problems.push(`Redis may evict logs (${policy}): set maxmemory-policy noeviction.`);
  }
  return problems;
}

/** A list before version 3 of the protocol, a map since. */
function valueIn(reply: unknown, name: string): unknown {
  if (Array.isArray(reply)) return reply[1];
  if (reply instanceof Map) return reply.get(name);
  if (typeof reply !== "object" || reply === null) return undefined;
  return Object.entries(reply).find(([key]) => key === name)?.[1];
}
