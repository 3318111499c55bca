import type pg from "pg";
import { type ConnectionProxy, startConnectionProxy } from "../../server/rig/connection-proxy.js";
import { type RigServer, type RigServerOptions, startServer } from "../../server/rig/start-server.js";
import type { ClusterSource, PostgresCluster } from "./postgres-cluster.js";
import type { Ask } from "./researcher-thread.js";

/** Two instances of the service on one PostgreSQL of their own, all of which a test may break. */
export interface OutageStage {
  /** The one that serves the instances now. */
  readonly cluster: PostgresCluster;
  /** One for each instance, where they were asked for. */
  readonly proxies: readonly ConnectionProxy[];
  readonly instances: readonly [Instance, Instance];
  /** A connection of the superuser to the cluster that serves now. */
  administer<T>(work: (client: pg.Client) => Promise<T>): Promise<T>;
  /** From now on this cluster is the one that serves: behind the proxies, and for `administer`. */
  promote(replica: PostgresCluster): void;
  runRows(): Promise<readonly RunRow[]>;
  close(): Promise<void>;
}

export interface Instance {
  readonly server: RigServer;
  readonly ask: Ask;
}

export interface RunRow {
  readonly alias: string;
  readonly status: string;
  readonly attempt: number;
  /** Leases that ran out unreleased; `null` where the registry does not count them. */
  readonly crashes: number | null;
}

export interface OutageStageOptions extends Pick<RigServerOptions, "leaseMs" | "reapEveryMs" | "redisUrl"> {
  readonly source: ClusterSource;
  /** Milliseconds between two tokens of a model. */
  readonly paceMs: number;
  /** `postgresql.conf` settings. */
  readonly settings?: Readonly<Record<string, string | number>>;
  /** Each instance reaches the database through a proxy of its own. */
  readonly isProxied?: boolean;
  /** Called with the cluster before the service uses it. */
  readonly prepare?: (cluster: PostgresCluster) => Promise<void>;
}

export async function startOutageStage(options: OutageStageOptions): Promise<OutageStage> {
  const { source, paceMs, settings = {}, isProxied = false, prepare, ...timing } = options;
  const closers: (() => Promise<void>)[] = [];
  const close = async () => {
    for (const closer of closers.splice(0).reverse()) await closer();
  };
  try {
    let cluster = await source.create({ settings });
    closers.push(() => cluster.kill());
    await cluster.start();
    await prepare?.(cluster);
    const proxies: ConnectionProxy[] = [];
    for (let index = 0; isProxied && index < 2; index += 1) {
      const proxy = await startConnectionProxy(cluster.port);
      proxies.push(proxy);
      closers.push(proxy.stop);
    }
    const open = async (proxy: ConnectionProxy | undefined): Promise<Instance> => {
      const server = await startServer({
        ...timing,
        databaseUrl: cluster.url({ port: proxy?.port }),
        env: { THROUGHLINE_OFFLINE_PACE_MS: String(paceMs) },
      });
      // One that stands still, or waits for a database that is gone, would not end when it is asked to.
      closers.push(server.kill);
      return { server, ask: (path, init) => fetch(`${server.url}${path}`, init) };
    };
    // Both are waited for, also when one fails: what starts later would not be closed.
    const [first, second] = await Promise.allSettled([open(proxies[0]), open(proxies[1])]);
    if (first.status === "rejected") throw first.reason;
    if (second.status === "rejected") throw second.reason;
    const instances = [first.value, second.value] as const;
    return {
      get cluster() {
        return cluster;
      },
      proxies,
      instances,
      administer: (work) => cluster.administer(work),
      promote(replica) {
        const old = cluster;
        closers.push(() => old.kill());
        cluster = replica;
        for (const proxy of proxies) proxy.moveTo(replica.port);
      },
      runRows: () => cluster.administer(readRunRows),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function readRunRows(client: pg.Client): Promise<readonly RunRow[]> {
  const { rows } = await client.query<RunRow>(
    `select alias, status, attempt, (to_jsonb(runs) ->> 'crashes')::integer as crashes
     from throughline.runs where alias is not null order by arrival`,
  );
  return rows;
}
