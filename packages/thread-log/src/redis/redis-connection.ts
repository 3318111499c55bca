import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { StoreOutage, ThroughlineError, toStoreFailure } from "@throughline/ai-core";
import { createClient, ErrorReply } from "redis";
import { SCRIPTS, type ScriptName } from "./log-scripts.js";
import { readRedisSettings } from "./redis-settings.js";

/** What is known of the server behind a connection, for as long as that connection lives. */
export interface RedisServer {
  /** Random, another one each time the server starts. */
  readonly boot: string;
  /**
   * What this server has answered outlives its crash: the append-only file is synced before each answer and no replica,
   * which might know less, can take over.
   */
  readonly durable: boolean;
}

export interface RedisConnection {
  /**
   * The server of this very connection. A connection does not survive its server, so whatever is sent while this holds was
   * answered by that boot or not at all.
   */
  server(): RedisServer;
  run(script: ScriptName, keys: readonly string[], args: readonly string[]): Promise<unknown>;
  send(command: readonly string[]): Promise<unknown>;
  /** All or nothing, nothing in between, one round trip. */
  transaction(commands: readonly (readonly string[])[]): Promise<readonly unknown[]>;
  subscribe(channel: string, listener: (message: string) => void): Promise<void>;
  /** Calls back each time the connection stands again after it was lost. */
  onReconnect(listener: () => void): void;
  /** Lets what is under way finish. */
  close(): Promise<void>;
}

/** Between a lost connection and the next try; tails and appends wait above this, so it is short. */
const LONGEST_RETRY_MS = 500;
const RETRY_MS = 20;
const PING_MS = 10_000;
const DEAD_AFTER_MS = 30_000;

const shaOf = new Map(
  Object.entries(SCRIPTS).map(([name, text]) => [name, createHash("sha1").update(text).digest("hex")]),
);

/** Nothing is queued while the server is away: a command that waited would be answered by a server nobody has looked at. */
export async function connectRedis(url: string): Promise<RedisConnection> {
  const client = createClient({
    url,
    disableOfflineQueue: true,
    pingInterval: PING_MS,
    // A timer per command is dear; a server that hangs is noticed by its socket.
    commandOptions: { timeout: 0 },
    socket: {
      socketTimeout: DEAD_AFTER_MS,
      reconnectStrategy: (retries) => Math.min(10 * 2 ** Math.min(retries, 10), LONGEST_RETRY_MS),
    },
  });
  const listeners = new Set<() => void>();
  let known: RedisServer | undefined;
  let introductions = 0;
  let wasReady = false;
  let isClosed = false;
  let onFirst = () => {};

  /** Not every error is a lost connection: if it still stands, the server behind it is looked at again. */
  const forget = () => {
    known = undefined;
    introductions++;
    if (client.isReady) void introduce();
  };
  client.on("error", forget);
  client.on("reconnecting", forget);
  client.on("end", forget);
  client.on("ready", () => void introduce());

  async function introduce(): Promise<void> {
    const mine = ++introductions;
    try {
      const server = await lookAt((command) => client.sendCommand([...command]));
      for (const text of Object.values(SCRIPTS)) await client.sendCommand(["SCRIPT", "LOAD", text]);
      if (mine !== introductions) return;
      known = server;
    } catch {
      // A server that still loads its file answers, but takes no script yet. A lost connection introduces itself again.
      await delay(RETRY_MS);
      if (mine === introductions && client.isReady) void introduce();
      return;
    }
    if (wasReady) for (const listener of listeners) listener();
    wasReady = true;
    onFirst();
  }

  function server(): RedisServer {
    if (isClosed)
      throw new ThroughlineError("shutting_down", "This instance is shutting down; connect again.");
    if (!known) throw new StoreOutage(new Error("The connection to Redis is being made again."));
    return known;
  }

  // A server that is not there at the start is said at once; one that goes away later is waited for.
  await new Promise<void>((resolve, reject) => {
    onFirst = resolve;
    client.once("error", reject);
    client.connect().catch(reject);
  }).catch((cause: unknown) => {
    client.destroy();
    throw new ThroughlineError("internal", "Redis can't be reached: check REDIS_URL, and that it runs.", {
      cause,
    });
  });
  return {
    server,
    async run(script, keys, args) {
      server();
      const sha = shaOf.get(script) ?? "";
      try {
        return await answered(client.sendCommand(["EVALSHA", sha, String(keys.length), ...keys, ...args]));
      } catch (error) {
        // The script cache was emptied; the server is the same.
        if (!isReply(error, "NOSCRIPT")) throw error;
        return answered(client.sendCommand(["EVAL", SCRIPTS[script], String(keys.length), ...keys, ...args]));
      }
    },
    async send(command) {
      server();
      return answered(client.sendCommand([...command]));
    },
    async transaction(commands) {
      server();
      const multi = client.multi();
      for (const command of commands) multi.addCommand([...command]);
      return answered(multi.exec());
    },
    async subscribe(channel, listener) {
      await client.subscribe(channel, listener);
    },
    onReconnect: (listener) => void listeners.add(listener),
    async close() {
      isClosed = true;
      if (client.isReady) await client.close().catch(() => client.destroy());
      else client.destroy();
    },
  };
}

async function lookAt(send: (command: readonly string[]) => Promise<unknown>): Promise<RedisServer> {
  const server = String(await send(["INFO", "server"]));
  const replication = String(await send(["INFO", "replication"]));
  const boot = /run_id:(\w+)/.exec(server)?.[1];
  if (boot === undefined) throw new Error("This Redis does not tell its run_id.");
  const settings = await readRedisSettings(send);
  const alone = /role:master/.test(replication) && /connected_slaves:0/.test(replication);
  return { boot, durable: alone && settings.appendonly === "yes" && settings.appendfsync === "always" };
}

/** Full, can't write its file, in a long script, or without its replicas: the same may succeed later. */
const OUTAGE_REPLY = /^(OOM|MISCONF|BUSY|NOREPLICAS|UNBLOCKED|EXECABORT)/;

/** The first `catch` around the driver: from here on an outage is a `StoreOutage`. */
async function answered<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    const refusedForNow = error instanceof ErrorReply && OUTAGE_REPLY.test(error.message);
    throw refusedForNow ? new StoreOutage(error) : toStoreFailure(error);
  }
}

function isReply(error: unknown, code: string): boolean {
  return error instanceof Error && error.message.startsWith(code);
}
