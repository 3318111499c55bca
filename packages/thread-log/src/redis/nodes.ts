import { createClient, createCluster } from "@redis/client";
import { systemClock } from "@throughline/ai-core";
import { inTime } from "./in-time.js";

type Send = (key: string, command: readonly string[]) => Promise<unknown>;

/** The servers behind one setting: a single one, one and its replicas, or a cluster. */
export interface RedisNodes {
  /** Makes clients for one server after the other, from the first on, not connected yet. */
  inTurn(): (onLost: (reason: unknown) => void) => RedisClient;
  /** Connects it, and refuses a replica, which neither takes writes nor passes messages on. */
  connect(client: RedisClient): Promise<void>;
  /** Sends a command on one key to the node that stores it. */
  send(client: RedisClient, key: string, command: readonly string[]): Promise<unknown>;
  close(): void;
}

export function createRedisNodes(setting: string): RedisNodes {
  const configured = redisUrls(setting);
  const [first] = configured;
  let urls: readonly string[] = configured;
  let cluster: { readonly send: Send; destroy(): void } | undefined;

  async function learnCluster(client: RedisClient): Promise<void> {
    const listed = (await clusterAddresses(client)).map((address) => atAddress(first, address));
    urls = [...new Set([...configured, ...listed])];
    cluster ??= openCluster(urls);
  }

  return {
    inTurn() {
      let turn = 0;
      return (onLost) => {
        const url = urls[turn % urls.length] ?? first;
        turn += 1;
        return createRedisClient(url, onLost);
      };
    },
    async connect(client) {
      await client.connect();
      const { isCluster, isReplica } = await lookAtServer(client);
      if (isReplica) throw new Error("This Redis is a replica: REDIS_URL must name its primary.");
      if (isCluster) await learnCluster(client);
    },
    send: (client, key, command) => (cluster ? cluster.send(key, command) : client.sendCommand([...command])),
    close: () => cluster?.destroy(),
  };
}

/** Only commands on keys need it: messages go through any node. */
function openCluster(urls: readonly string[]): { readonly send: Send; destroy(): void } {
  const { username, password, protocol } = new URL(urls[0] ?? "");
  const cluster = createCluster({
    rootNodes: urls.map((url) => ({ url })),
    defaults: {
      ...(username !== "" && { username: decodeURIComponent(username) }),
      ...(password !== "" && { password: decodeURIComponent(password) }),
      ...(protocol === "rediss:" && { socket: { tls: true as const } }),
      disableOfflineQueue: true,
    },
  });
  cluster.on("error", () => {});
  let connecting: Promise<unknown> | undefined;
  const connect = () => {
    connecting ??= cluster.connect().finally(() => {
      connecting = undefined;
    });
    return connecting;
  };
  connect().catch(() => {});
  return {
    async send(key, command) {
      if (!cluster.isOpen) await connect();
      return cluster.sendCommand(key, false, [...command]);
    },
    destroy() {
      if (cluster.isOpen) cluster.destroy();
    },
  };
}

export type RedisClient = ReturnType<typeof createRedisClient>;

/** Properties of the server behind a connection that decide how it is used. */
export interface RedisServerFacts {
  readonly isCluster: boolean;
  /** In a cluster every node passes messages on to all others; elsewhere a replica does not pass them on. */
  readonly isReplica: boolean;
}

const CONNECT_MS = 1_000;

/** `REDIS_URL` names one server, or several with commas between; what comes after the first may be a mere `host:port`. */
function redisUrls(setting: string): readonly [string, ...string[]] {
  const [first = "", ...rest] = setting.split(",").map((part) => part.trim());
  return [first, ...rest.map((part) => (part.includes("://") ? part : atAddress(first, part)))];
}

/** Returns the URL of another address with the same credentials and encryption. */
function atAddress(url: string, address: string): string {
  const moved = new URL(url);
  const { hostname, port } = new URL(`redis://${address}`);
  moved.hostname = hostname;
  moved.port = port;
  return moved.href;
}

/** Does not reconnect and queues nothing: that is for its link to do. */
function createRedisClient(url: string, onLost: (reason: unknown) => void) {
  const client = createClient({
    url,
    disableOfflineQueue: true,
    // A timer per command is expensive; callers that wait notice a slow one.
    commandOptions: { timeout: 0 },
    socket: { connectTimeout: CONNECT_MS, reconnectStrategy: false, noDelay: true },
  });
  client.on("error", onLost);
  client.on("end", () => onLost(new Error("Redis has closed the connection.")));
  return client;
}

/** Reads the mode and role of a server. A hosted Redis may refuse these commands: then it counts as a primary of its own. */
async function lookAtServer(client: RedisClient): Promise<RedisServerFacts> {
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

/** Addresses of all nodes of the cluster, as the server lists them; it may not know those of some nodes. */
async function clusterAddresses(client: RedisClient): Promise<readonly string[]> {
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

export interface RedisProblem {
  readonly kind: "unreachable" | "replica" | "forbidden";
  /** Message for the operator. */
  readonly message: string;
}

/** Finds what prevents a Redis from being the bus. Of several URLs one that works is enough. */
export async function findRedisProblems(setting: string): Promise<readonly RedisProblem[]> {
  const problems: RedisProblem[] = [];
  for (const url of redisUrls(setting)) {
    const problem = await findProblem(url);
    if (problem === undefined) return [];
    problems.push(problem);
  }
  return problems;
}

/** The channel of a trial. Any would do: the trial is whether this user is permitted. */
const TRIED = "throughline:doctor";
const PATIENCE_MS = 3_000;

async function findProblem(url: string): Promise<RedisProblem | undefined> {
  const address = new URL(url).host;
  const client = createRedisClient(url, () => {});
  try {
    const isReplica = await inTime(systemClock, PATIENCE_MS, tryOut(client));
    return isReplica
      ? { kind: "replica", message: `${address} is a replica: name its primary in REDIS_URL.` }
      : undefined;
  } catch (error) {
    if (error instanceof Error && /^(NOPERM|NOAUTH|WRONGPASS)/.test(error.message)) {
      return {
        kind: "forbidden",
        message: `${address} does not let this user publish, subscribe and run scripts.`,
      };
    }
    return { kind: "unreachable", message: `${address} can't be reached.` };
  } finally {
    if (client.isOpen) client.destroy();
  }
}

/** Whether the server is a replica. Rejects where it does not respond, or refuses what a bus needs. */
async function tryOut(client: RedisClient): Promise<boolean> {
  await client.connect();
  if ((await lookAtServer(client)).isReplica) return true;
  await client.subscribe(TRIED, () => {});
  await client.publish(TRIED, "");
  await client.sendCommand(["EVAL", "return redis.call('TIME')", "0"]);
  return false;
}
