import { hashKey } from "@throughline/billing";
import { SignJWT } from "jose";
import type pg from "pg";
import {
  type LitellmRig,
  SERVICE_KEY,
  startLitellmRig,
  TOKENS,
  VIRTUAL_KEYS,
} from "../../e2e/billing/rig/litellm-rig.js";
import { openClusterSource, type PostgresCluster } from "../../e2e/outages/rig/postgres-cluster.js";
import { type Replica, type StruckDatabase, synchronousReplica } from "../../e2e/outages/rig/strikes.js";
import { type ConnectionProxy, startConnectionProxy } from "../../e2e/server/rig/connection-proxy.js";
import { type RigRedis, startRedis } from "../../e2e/server/rig/start-redis.js";
import { type ChaosInstance, startInstance } from "./instance.js";

/** Everything that a chaos run breaks. */
export interface ChaosStage extends StruckDatabase {
  readonly instances: readonly ChaosInstance[];
  readonly redis: RigRedis;
  /** Missing in a short run. */
  readonly litellm: LitellmRig | undefined;
  /** A streaming replica that has every commit; missing in a short run. */
  readonly replica: Replica | undefined;
  /** What clients connect to: it gives each connection an instance that answers requests, as a load balancer does. */
  readonly front: ConnectionProxy;
  readonly url: string;
  readonly accounts: readonly string[];
  tokenOf(account: string): Promise<string>;
  keyHashOf(account: string): string;
  administer<T>(work: (client: pg.Client) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export interface ChaosStageOptions {
  readonly instances: readonly { readonly name: string; readonly roles?: string }[];
  readonly withLitellm: boolean;
  readonly withReplica: boolean;
  readonly clockLibrary: string | undefined;
  readonly random: () => number;
}

const GRAPHS = new URL("../graphs/chaos-graphs.ts", import.meta.url);
const SECRET = "a secret of the chaos rig, which is long enough";
/** Shorter than in production, so that recoveries fit into minutes. */
const TIMING = { leaseMs: 4_000, reapEveryMs: 500, maxCrashes: 1_000 };

export async function startChaosStage(options: ChaosStageOptions): Promise<ChaosStage> {
  const { withLitellm, withReplica, clockLibrary, random } = options;
  const closers: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const closer of closers.splice(0).reverse()) await closer();
  };
  try {
    const source = await openClusterSource();
    closers.push(source.close);
    let cluster = await source.create();
    await cluster.start();
    const replica = withReplica ? synchronousReplica(source) : undefined;
    await replica?.prepare(cluster);
    const redis = await startRedis();
    closers.push(redis.stop);
    const litellm = withLitellm ? await startLitellmRig() : undefined;
    if (litellm) closers.push(litellm.stop);

    const settings = (litellmUrl: string) => ({
      THROUGHLINE_JWT_SECRET: SECRET,
      THROUGHLINE_DRAIN_MS: "1000",
      ...(litellm && {
        LITELLM_BASE_URL: `${litellmUrl}/v1`,
        LITELLM_API_KEY: SERVICE_KEY,
        LITELLM_VIRTUAL_KEYS: VIRTUAL_KEYS,
        THROUGHLINE_SPEND_LOG: litellm.litellm.spendLog,
        THROUGHLINE_RECONCILE_SECONDS: "2",
        THROUGHLINE_DEFAULT_MODEL: "cheap",
      }),
    });
    const instances: ChaosInstance[] = [];
    for (const { name, roles } of options.instances) {
      const instance = await startInstance({
        name,
        ...(roles !== undefined && { roles }),
        databasePort: cluster.port,
        databaseUrl: (port) => cluster.url({ port }),
        redisPort: redis.port,
        litellmPort: litellm && Number(new URL(litellm.litellm.url).port),
        settings,
        server: { ...TIMING, graphs: GRAPHS },
        clockLibrary,
      });
      instances.push(instance);
      closers.push(instance.close);
    }
    const front = await startConnectionProxy(() => {
      const all = instances.filter(({ answersRequests }) => answersRequests);
      const up = all.filter((instance) => instance.isUp());
      const choices = up.length > 0 ? up : all;
      return Number(new URL(choices[Math.floor(random() * choices.length)]?.server.url ?? "").port);
    });
    closers.push(front.stop);

    return {
      get cluster() {
        return cluster;
      },
      administer: (work) => cluster.administer(work),
      promote(promoted: PostgresCluster) {
        cluster = promoted;
        for (const { database } of instances) database.moveTo(promoted.port);
      },
      instances,
      redis,
      litellm,
      replica,
      front,
      url: `http://127.0.0.1:${front.port}`,
      accounts: ["ann", "bob", "only"],
      tokenOf: (account) =>
        new SignJWT({
          billing_account_id: account,
          sub: `person of ${account}`,
          virtual_key_id: `vk-${account}`,
          throughline_role: "admin",
        })
          .setProtectedHeader({ alg: "HS256" })
          // Beyond every jump of an instance's clock.
          .setExpirationTime("30d")
          .sign(new TextEncoder().encode(SECRET)),
      keyHashOf: (account) => hashKey(TOKENS[account] ?? ""),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
