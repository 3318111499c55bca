import { createClient } from "@redis/client";

export type RedisClient = ReturnType<typeof createRedisClient>;

/** What matters of the server behind a connection. */
export interface RedisServerFacts {
  readonly isCluster: boolean;
  /** In a cluster every node passes messages on to all others; elsewhere a replica keeps them to itself. */
  readonly isReplica: boolean;
}

const CONNECT_MS = 1_000;

/** `REDIS_URL` names one server, or several with commas between; what comes after the first may be a mere `host:port`. */
export function redisUrls(setting: string): readonly [string, ...string[]] {
  const [first = "", ...rest] = setting.split(",").map((part) => part.trim());
  return [first, ...rest.map((part) => (part.includes("://") ? part : atAddress(first, part)))];
}

/** The same credentials and encryption at another address. */
export function atAddress(url: string, address: string): string {
  const moved = new URL(url);
  const { hostname, port } = new URL(`redis://${address}`);
  moved.hostname = hostname;
  moved.port = port;
  return moved.href;
}

/** Does not reconnect and queues nothing: that is for its link to do. */
export function createRedisClient(url: string, onLost: (reason: unknown) => void) {
  const client = createClient({
    url,
    disableOfflineQueue: true,
    // A timer per command is dear; what is slow is noticed by those who wait.
    commandOptions: { timeout: 0 },
    socket: { connectTimeout: CONNECT_MS, reconnectStrategy: false, noDelay: true },
  });
  client.on("error", onLost);
  client.on("end", () => onLost(new Error("Redis has closed the connection.")));
  return client;
}

/** A hosted Redis may keep these to itself: then it counts as a primary of its own. */
export async function lookAtServer(client: RedisClient): Promise<RedisServerFacts> {
  const [info, role] = await Promise.all([
    orRefused(client.sendCommand(["INFO", "server"])),
    orRefused(client.sendCommand(["ROLE"])),
  ]);
  const isCluster = /redis_mode:cluster/.test(String(info));
  return { isCluster, isReplica: !isCluster && Array.isArray(role) && String(role[0]) !== "master" };
}

/** Rejects when the server does not answer, or was made a replica. */
export async function probeServer(client: RedisClient): Promise<void> {
  await client.ping();
  const { isReplica } = await lookAtServer(client);
  if (isReplica) throw new Error("This Redis is a replica.");
}

/** Addresses of all nodes of the cluster, as it tells them; of some it may not know any. */
export async function clusterAddresses(client: RedisClient): Promise<readonly string[]> {
  const slots: unknown = await orRefused(client.sendCommand(["CLUSTER", "SLOTS"]));
  const ranges: readonly unknown[] = Array.isArray(slots) ? slots : [];
  const nodes = ranges.flatMap((range): unknown[] => (Array.isArray(range) ? range.slice(2) : []));
  return [...new Set(nodes.flatMap(addressOf))];
}

function addressOf(node: unknown): readonly string[] {
  const [host, port] = Array.isArray(node) ? node.map(String) : [];
  if (!host || host === "?" || !port) return [];
  return [host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`];
}

/** `undefined` where the server answers that this is not allowed. */
async function orRefused<T>(answer: Promise<T>): Promise<T | undefined> {
  return answer.catch((error: unknown) => {
    if (error instanceof Error && /^(NOPERM|ERR|NOAUTH)/.test(error.message)) return undefined;
    throw error;
  });
}
