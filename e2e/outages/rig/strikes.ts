import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import type { OutageStage } from "./outage-stage.js";
import { type ClusterSource, CROWD_ROLE, type PostgresCluster, SERVICE_ROLE } from "./postgres-cluster.js";

/** What a strike at the database needs of a stage. */
export type StruckDatabase = Pick<OutageStage, "cluster" | "administer" | "promote">;

/** Breaks what a service stands on, says when it is broken, and mends it again. Resolves when it is mended. */
export type Strike = (stage: OutageStage, onBroken: () => void) => Promise<void>;

/** One that needs the database alone. */
export type DatabaseStrike = (stage: StruckDatabase, onBroken: () => void) => Promise<void>;

const TERMINATE_SERVICE = `select pg_terminate_backend(pid) from pg_stat_activity where usename = '${SERVICE_ROLE}'`;

/** A crash of the whole database server. */
export function killedFor(ms: number): DatabaseStrike {
  return async ({ cluster }, onBroken) => {
    await cluster.kill();
    onBroken();
    await delay(ms);
    await cluster.start();
  };
}

/** As while a failover goes on, or a disk is full: it answers, and refuses every write. */
export function readOnlyFor(ms: number): DatabaseStrike {
  const set = (stage: StruckDatabase, value: "on" | "off") =>
    stage.administer(async (client) => {
      await client.query(`alter system set default_transaction_read_only = ${value}`);
      await client.query("select pg_reload_conf()");
    });
  return async (stage, onBroken) => {
    await set(stage, "on");
    await stage.administer((client) => client.query(TERMINATE_SERVICE));
    onBroken();
    await delay(ms);
    await set(stage, "off");
  };
}

/** Every tenth of a second a fifth of the service's connections is cut, wherever they are in their work. */
export function terminatedFor(ms: number, seed: number): DatabaseStrike {
  const EVERY_MS = 100;
  return (stage, onBroken) =>
    stage.administer(async (client) => {
      await client.query("select setseed($1)", [(seed % 1_000) / 1_000]);
      onBroken();
      const until = performance.now() + ms;
      while (performance.now() < until) {
        await client.query(`${TERMINATE_SERVICE} and random() < 0.2`);
        await delay(EVERY_MS);
      }
    });
}

/** Others take every connection that `max_connections` allows, and the service finds none when it comes back. */
export function exhaustedFor(ms: number): DatabaseStrike {
  const EVERY_MS = 50;
  return (stage, onBroken) =>
    stage.administer(async (client) => {
      const crowd = new Set<pg.Client>();
      let brokenAt: number | undefined;
      try {
        while (brokenAt === undefined || performance.now() < brokenAt + ms) {
          // What the service gets hold of meanwhile is taken from it again.
          await client.query(TERMINATE_SERVICE);
          while (await joinCrowd(stage.cluster, crowd)) {
            // As long as one more is let in.
          }
          const { rows } = await client.query<{ count: number }>(
            `select count(*)::integer from pg_stat_activity where usename = '${SERVICE_ROLE}'`,
          );
          if (brokenAt === undefined && rows[0]?.count === 0) {
            brokenAt = performance.now();
            onBroken();
          }
          await delay(EVERY_MS);
        }
      } finally {
        await Promise.all([...crowd].map((one) => one.end().catch(() => {})));
      }
    });
}

/** Several at a time. `false`: every connection is taken. */
async function joinCrowd(cluster: PostgresCluster, crowd: Set<pg.Client>): Promise<boolean> {
  const entered = await Promise.all(
    Array.from({ length: 10 }, async () => {
      const one = new pg.Client({ connectionString: cluster.url({ role: CROWD_ROLE }) });
      one.on("error", () => crowd.delete(one));
      try {
        await one.connect();
        crowd.add(one);
        return true;
      } catch {
        return false;
      }
    }),
  );
  return entered.includes(true);
}

/** The first instance's open connections carry nothing any more, and nothing says so; new ones work. */
export function halfOpenFor(ms: number): Strike {
  return async ({ proxies: [proxy] }, onBroken) => {
    if (!proxy) throw new Error("The stage has no proxies.");
    const thaw = proxy.freeze();
    onBroken();
    await delay(ms);
    thaw();
  };
}

export interface Replica {
  /** Of a stage's options: makes the replica while the primary is stopped for a moment. Once more after a failover. */
  prepare(primary: PostgresCluster): Promise<void>;
  /** It applies nothing for so long, so commits wait. */
  pauseFor(ms: number): Promise<void>;
  /** The primary dies for good, the replica is promoted, the proxies move to it. */
  readonly failOver: DatabaseStrike;
}

/** A streaming replica that has applied every commit before the service hears of it. */
export function synchronousReplica(source: ClusterSource): Replica {
  let replica: PostgresCluster | undefined;
  return {
    async prepare(primary) {
      const password = new URL(primary.url()).password;
      await primary.stop();
      replica = await source.create({
        copyOf: primary.folder,
        standbyOf: `host=127.0.0.1 port=${primary.port} user=throughline password=${password}`,
      });
      await Promise.all([primary.start(), replica.start()]);
      await primary.administer(async (client) => {
        await client.query("alter system set synchronous_standby_names = '*'");
        await client.query("alter system set synchronous_commit = 'remote_apply'");
        await client.query("select pg_reload_conf()");
        const isSynchronous = async () => {
          const { rows } = await client.query("select from pg_stat_replication where sync_state = 'sync'");
          return rows.length > 0;
        };
        while (!(await isSynchronous())) await delay(50);
      });
    },
    async pauseFor(ms) {
      await replica?.administer((client) => client.query("select pg_wal_replay_pause()"));
      await delay(ms);
      await replica?.administer((client) => client.query("select pg_wal_replay_resume()"));
    },
    async failOver(stage, onBroken) {
      const promoted = replica;
      if (!promoted) throw new Error("The stage was not prepared with this replica.");
      await stage.cluster.kill();
      onBroken();
      // As long as a watchdog needs to be sure.
      await delay(2_000);
      await promoted.administer((client) => client.query("select pg_promote()"));
      stage.promote(promoted);
    },
  };
}
