import { createCluster } from "@redis/client";
import {
  atAddress,
  clusterAddresses,
  createRedisClient,
  lookAtServer,
  type RedisClient,
  redisUrls,
} from "./redis-server.js";

type Send = (key: string, command: readonly string[]) => Promise<unknown>;

/** The servers behind one setting: a single one, one and its replicas, or a cluster. */
export interface RedisNodes {
  /** Makes clients for one server after the other, from the first on, not connected yet. */
  inTurn(): (onLost: (reason: unknown) => void) => RedisClient;
  /** Connects it, and refuses a replica, which neither takes writes nor passes messages on. */
  connect(client: RedisClient): Promise<void>;
  /** A command on one key, wherever that is kept. */
  send(client: RedisClient, key: string, command: readonly string[]): Promise<unknown>;
  close(): void;
}

export function createRedisNodes(setting: string): RedisNodes {
  const configured = redisUrls(setting);
  const [first] = configured;
  let urls: readonly string[] = configured;
  let cluster: { readonly send: Send; destroy(): void } | undefined;

  async function learnCluster(client: RedisClient): Promise<void> {
    const told = (await clusterAddresses(client)).map((address) => atAddress(first, address));
    urls = [...new Set([...configured, ...told])];
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
