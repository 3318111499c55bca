import { systemClock } from "@throughline/ai-core";
import { inTime } from "./in-time.js";
import { createRedisClient, lookAtServer, type RedisClient, redisUrls } from "./redis-server.js";

export interface RedisProblem {
  readonly kind: "unreachable" | "replica" | "forbidden";
  /** For the operator. */
  readonly says: string;
}

/** What keeps a Redis from being the bus. Of several URLs one that works is enough. */
export async function findRedisProblems(setting: string): Promise<readonly RedisProblem[]> {
  const problems: RedisProblem[] = [];
  for (const url of redisUrls(setting)) {
    const problem = await findProblem(url);
    if (problem === undefined) return [];
    problems.push(problem);
  }
  return problems;
}

/** Any channel would do: what is asked is whether this user may. */
const TRIED = "throughline:doctor";
const PATIENCE_MS = 3_000;

async function findProblem(url: string): Promise<RedisProblem | undefined> {
  const address = new URL(url).host;
  const client = createRedisClient(url, () => {});
  try {
    const isReplica = await inTime(systemClock, PATIENCE_MS, tryOut(client));
    return isReplica
      ? { kind: "replica", says: `${address} is a replica: name its primary in REDIS_URL.` }
      : undefined;
  } catch (error) {
    if (error instanceof Error && /^(NOPERM|NOAUTH|WRONGPASS)/.test(error.message)) {
      return {
        kind: "forbidden",
        says: `${address} does not let this user publish, subscribe and run scripts.`,
      };
    }
    return { kind: "unreachable", says: `${address} can't be reached.` };
  } finally {
    if (client.isOpen) client.destroy();
  }
}

/** Whether it is a replica. Rejects where it does not answer, or refuses what a bus needs. */
async function tryOut(client: RedisClient): Promise<boolean> {
  await client.connect();
  if ((await lookAtServer(client)).isReplica) return true;
  await client.subscribe(TRIED, () => {});
  await client.publish(TRIED, "");
  await client.sendCommand(["EVAL", "return redis.call('TIME')", "0"]);
  return false;
}
