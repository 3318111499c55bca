import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  closeSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { startEmbeddedPostgres } from "@throughline/embedded-postgres";
import pg from "pg";
import { freePort } from "../../server/rig/free-port.js";

/** The roles that the service and others sign in as: no superusers, so that no reserved connection is theirs. */
export const SERVICE_ROLE = "service";
export const CROWD_ROLE = "crowd";
const DATABASE = "throughline";
const POLL_MS = 20;

/** A PostgreSQL that a test kills, starts again, and talks to as its administrator. */
export interface PostgresCluster {
  /** Stays the same over restarts. */
  readonly port: number;
  readonly folder: string;
  /** The service's database. `port`: of a proxy before it. */
  url(options?: { readonly role?: string; readonly port?: number | undefined }): string;
  /** A connection of the superuser, open while `work` goes on. It may write while everything else is read-only. */
  administer<T>(work: (client: pg.Client) => Promise<T>): Promise<T>;
  /** Resolves once it answers. */
  start(): Promise<void>;
  /** SIGKILL to the postmaster and all its children; back when they are gone. */
  kill(): Promise<void>;
  /** Writes everything down and ends. Does nothing to one that is gone. */
  stop(): Promise<void>;
}

export interface ClusterOptions {
  /** `postgresql.conf` settings. */
  readonly settings?: Readonly<Record<string, string | number>>;
  /** A folder of a stopped cluster to copy, instead of an empty one. */
  readonly copyOf?: string;
  /** How it reaches the primary whose standby it is, as `primary_conninfo`. */
  readonly standbyOf?: string;
}

/** Makes clusters by copying one that was initialised once: a copy costs a tenth. */
export interface ClusterSource {
  /** Not started yet. */
  create(options?: ClusterOptions): Promise<PostgresCluster>;
  /** Ends what still runs, and deletes all folders. */
  close(): Promise<void>;
}

interface Program {
  readonly postgres: string;
  /** PostgreSQL refuses root: the user who owns its folder. */
  readonly user: { readonly uid: number; readonly gid: number } | undefined;
  readonly password: string;
}

export async function openClusterSource(): Promise<ClusterSource> {
  const home = mkdtempSync(join(tmpdir(), "throughline-outages-"));
  const clusters: PostgresCluster[] = [];
  const remove = () => rmSync(home, { recursive: true, force: true });
  try {
    // Unlike `mkdtemp`'s own mode: a PostgreSQL that root starts runs as another user.
    chmodSync(home, 0o755);
    const { template, program } = await initialise(join(home, "template"));
    return {
      async create({ settings = {}, copyOf = template, standbyOf } = {}) {
        const folder = join(home, `cluster-${clusters.length}`);
        // Node's own copy would give the files to us.
        execFileSync("cp", ["-Rp", copyOf, folder]);
        if (standbyOf !== undefined) writeFileSync(join(folder, "standby.signal"), "");
        const cluster = createCluster(program, folder, await freePort(), {
          ...settings,
          ...(standbyOf !== undefined && { primary_conninfo: standbyOf }),
        });
        clusters.push(cluster);
        return cluster;
      },
      async close() {
        await Promise.all(clusters.map((cluster) => cluster.stop()));
        remove();
      },
    };
  } catch (error) {
    remove();
    throw error;
  }
}

/** The embedded PostgreSQL knows how to make a cluster on this machine; from then on it is ours to run. */
async function initialise(dataDir: string): Promise<{ template: string; program: Program }> {
  const embedded = await startEmbeddedPostgres({ dataDir });
  const { password } = new URL(embedded.url);
  const client = new pg.Client({ connectionString: embedded.url });
  try {
    await client.connect();
    for (const role of [SERVICE_ROLE, CROWD_ROLE]) {
      await client.query(`create role ${role} login password '${password}'`);
    }
    await client.query(`create database ${DATABASE} owner ${SERVICE_ROLE}`);
    const { rows } = await client.query<{ template: string; bin: string }>(
      `select current_setting('data_directory') as template, setting as bin from pg_config where name = 'BINDIR'`,
    );
    const [{ template, bin } = { template: "", bin: "" }] = rows;
    const { uid, gid } = statSync(template);
    const user = process.getuid?.() === 0 ? { uid, gid } : undefined;
    return { template, program: { postgres: join(bin, "postgres"), user, password } };
  } finally {
    await client.end();
    await embedded.stop();
  }
}

function createCluster(
  { postgres, user, password }: Program,
  folder: string,
  port: number,
  settings: Readonly<Record<string, string | number>>,
): PostgresCluster {
  const logFile = `${folder}.log`;
  const options = Object.entries({
    listen_addresses: "127.0.0.1",
    port,
    unix_socket_directories: "",
    max_connections: 200,
    // The machine stays up whatever is killed, so what was written is kept by the system's own cache.
    fsync: "off",
    ...settings,
  }).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  let child: ChildProcess | undefined;

  const connect = async (): Promise<pg.Client> => {
    const client = new pg.Client({
      connectionString: `postgres://throughline:${password}@127.0.0.1:${port}/${DATABASE}`,
      application_name: "outage rig",
      options: "-c default_transaction_read_only=off",
      connectionTimeoutMillis: 5_000,
    });
    client.on("error", () => {});
    await client.connect();
    return client;
  };

  async function administer<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
    const client = await connect();
    try {
      return await work(client);
    } finally {
      await client.end().catch(() => {});
    }
  }

  async function start(): Promise<void> {
    const output = openSync(logFile, "a");
    const started = spawn(postgres, ["-D", folder, ...options], {
      ...user,
      cwd: "/",
      env: { PATH: process.env.PATH, LC_ALL: "C" },
      stdio: ["ignore", output, output],
    });
    closeSync(output);
    child = started;
    // A runner that is ended never comes to the test's own cleanup.
    const endWithUs = () => void started.kill("SIGQUIT");
    process.once("exit", endWithUs);
    started.once("exit", () => process.removeListener("exit", endWithUs));
    for (;;) {
      const isUp = await administer(async () => true).catch(() => false);
      if (isUp) return;
      if (!isRunning(started)) throw new Error(`PostgreSQL did not start:\n${readFileSync(logFile, "utf8")}`);
      await delay(POLL_MS);
    }
  }

  return {
    port,
    folder,
    url: ({ role = SERVICE_ROLE, port: at = port } = {}) =>
      `postgres://${role}:${password}@127.0.0.1:${at}/${DATABASE}`,
    administer,
    start,
    async kill() {
      const pid = child?.pid;
      if (!child || !pid || !isRunning(child)) return;
      const gone = exitOf(child);
      // Stopped first, so that it has no further child while its children are counted.
      child.kill("SIGSTOP");
      const children = childrenOf(pid);
      for (const one of [...children, pid]) killIfThere(one);
      await gone;
      while (livingOf(children).length > 0) await delay(POLL_MS);
    },
    async stop() {
      if (!child || !isRunning(child)) return;
      const gone = exitOf(child);
      child.kill("SIGINT");
      await gone;
    },
  };
}

function isRunning({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode === null && signalCode === null;
}

function exitOf(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => child.once("exit", () => resolve()));
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // A backend ended by itself.
  }
}

interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  readonly state: string;
}

function processes(): readonly ProcessRow[] {
  const lines = execFileSync("ps", ["-A", "-o", "pid=,ppid=,stat="], { encoding: "utf8" }).split("\n");
  return lines.map((line) => {
    const [pid = "", parent = "", state = ""] = line.trim().split(/\s+/);
    return { pid: Number(pid), parent: Number(parent), state };
  });
}

function childrenOf(pid: number): readonly number[] {
  return processes().flatMap((row) => (row.parent === pid ? [row.pid] : []));
}

/** Without those that are dead and wait for a parent that will never ask. */
function livingOf(pids: readonly number[]): readonly number[] {
  return processes().flatMap(({ pid, state }) => (pids.includes(pid) && !state.startsWith("Z") ? [pid] : []));
}
