import { setTimeout as delay } from "node:timers/promises";
import { type ConnectionProxy, startConnectionProxy } from "../../e2e/server/rig/connection-proxy.js";
import { type RigServer, type RigServerOptions, startServer } from "../../e2e/server/rig/start-server.js";
import { createFaultyClock, type FaultyClock } from "./faulty-clock.js";

/** One process of the service behind proxies of its own. */
export interface ChaosInstance {
  readonly name: string;
  readonly answersRequests: boolean;
  readonly server: RigServer;
  readonly database: ConnectionProxy;
  readonly redis: ConnectionProxy;
  /** Missing where no LiteLLM runs. */
  readonly litellm: ConnectionProxy | undefined;
  /** Missing where no libfaketime is installed. */
  readonly clock: FaultyClock | undefined;
  /** Whether its process runs and listens. */
  isUp(): boolean;
  kill(): Promise<void>;
  /** SIGTERM, as a deploy does. */
  drain(): Promise<void>;
  /** Starts it again and again until it listens, as a supervisor does: without a database it exits. */
  bringBack(): Promise<void>;
  close(): Promise<void>;
}

export interface InstanceOptions {
  readonly name: string;
  /** `THROUGHLINE_ROLES`; missing for all of them. */
  readonly roles?: string;
  readonly databasePort: number;
  readonly databaseUrl: (port: number) => string;
  readonly redisPort: number;
  readonly litellmPort: number | undefined;
  readonly settings: (litellmUrl: string) => Readonly<Record<string, string>>;
  readonly server: Omit<RigServerOptions, "databaseUrl" | "redisUrl" | "env">;
  /** Of libfaketime. */
  readonly clockLibrary: string | undefined;
}

const RETRY_MS = 500;

export async function startInstance(options: InstanceOptions): Promise<ChaosInstance> {
  const { name, roles, litellmPort, clockLibrary } = options;
  const database = await startConnectionProxy(options.databasePort);
  const redis = await startConnectionProxy(options.redisPort);
  const litellm = litellmPort === undefined ? undefined : await startConnectionProxy(litellmPort);
  const clock = clockLibrary === undefined ? undefined : createFaultyClock(clockLibrary);
  const server = await startServer({
    ...options.server,
    instance: name,
    databaseUrl: options.databaseUrl(database.port),
    redisUrl: `redis://127.0.0.1:${redis.port}`,
    env: {
      ...(roles !== undefined && { THROUGHLINE_ROLES: roles }),
      ...options.settings(litellm ? `http://127.0.0.1:${litellm.port}` : ""),
      ...clock?.env,
    },
  });
  let isUp = true;
  let isClosing = false;

  return {
    name,
    answersRequests: roles === undefined || roles.includes("api"),
    server,
    database,
    redis,
    litellm,
    clock,
    isUp: () => isUp,
    async kill() {
      isUp = false;
      await server.kill();
    },
    async drain() {
      isUp = false;
      await server.stop();
    },
    async bringBack() {
      while (!isUp && !isClosing) {
        isUp = await server.restart().then(
          () => true,
          () => false,
        );
        if (!isUp) await delay(RETRY_MS);
      }
    },
    async close() {
      isClosing = true;
      server.resume();
      await server.kill();
      await Promise.all([database, redis, litellm].map((proxy) => proxy?.stop()));
      clock?.remove();
    },
  };
}
