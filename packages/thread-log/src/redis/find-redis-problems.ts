import { createRedisClient, lookAtServer, redisUrls } from "./redis-server.js";

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

/** Any channel and key would do: what is asked is whether this user may. */
const TRIED = "throughline:doctor";

async function findProblem(url: string): Promise<RedisProblem | undefined> {
  const address = new URL(url).host;
  const client = createRedisClient(url, () => {});
  try {
    await client.connect();
    if ((await lookAtServer(client)).isReplica) {
      return { kind: "replica", says: `${address} is a replica: name its primary in REDIS_URL.` };
    }
    await client.subscribe(TRIED, () => {});
    await client.publish(TRIED, "");
    await client.sendCommand(["EVAL", "return redis.call('TIME')", "0"]);
    return undefined;
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
