import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chownSync, existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { chooseServiceUser, findFreePort } from "../../../embedded-postgres/src/testing/server-parts.js";
import { makeTempFolder } from "../../../embedded-postgres/src/testing/temp-folder.js";

/** Where its programs are: `pg_dump` and the like, of the version that runs. */
export const DEBIAN_POSTGRES_BIN = "/usr/lib/postgresql/15/bin";
const HOST = "127.0.0.1";

export interface DebianPostgres {
  readonly url: string;
  readonly port: number;
  stop(): Promise<void>;
}

/** A copy of a server that takes over when that is gone. */
export interface DebianReplica {
  /** Starts it on this port. It reads and does not write until it is promoted. */
  start(port: number): Promise<void>;
  promote(): void;
  stop(): Promise<void>;
}

/** What is missing to run Debian's PostgreSQL 15 here; `npm test` installs it where it may. */
export function findMissingDebianPostgres(): string | undefined {
  return existsSync(join(DEBIAN_POSTGRES_BIN, "initdb"))
    ? undefined
    : "Debian's PostgreSQL 15 is not installed.";
}

/** A cluster of its own, made and ended for one test file. */
export async function launchDebianPostgres(): Promise<DebianPostgres> {
  const folder = makeServerFolder();
  run("initdb", ["-D", folder.cluster, "-U", "throughline", "-A", "trust", "-E", "UTF8", "--no-sync"]);
  const port = await findFreePort(HOST);
  const stopServer = await serve(folder.cluster, port);
  return {
    url: urlOn(port),
    port,
    async stop() {
      await stopServer();
      folder.remove();
    },
  };
}

export function replicateDebianPostgres({ url }: DebianPostgres): DebianReplica {
  const folder = makeServerFolder();
  run("pg_basebackup", ["-d", url, "-D", folder.cluster, "-R", "-c", "fast", "--no-sync"]);
  let stopServer = async () => {};
  return {
    async start(port) {
      stopServer = await serve(folder.cluster, port);
    },
    promote: () => run("pg_ctl", ["promote", "-D", folder.cluster]),
    async stop() {
      await stopServer();
      folder.remove();
    },
  };
}

function makeServerFolder(): { readonly cluster: string; remove(): void } {
  const folder = makeTempFolder();
  const user = chooseServiceUser(undefined);
  if (user) chownSync(folder.path, user.uid, user.gid);
  return { cluster: join(folder.path, "cluster"), remove: folder.remove };
}

function run(program: string, options: readonly string[]): void {
  execFileSync(join(DEBIAN_POSTGRES_BIN, program), options, {
    ...chooseServiceUser(undefined),
    cwd: "/",
    stdio: "ignore",
  });
}

function urlOn(port: number): string {
  return `postgres://throughline@${HOST}:${port}/postgres`;
}

/** Resolves once the server answers, with what ends it. */
async function serve(cluster: string, port: number): Promise<() => Promise<void>> {
  // No test kills it: the question is whether it understands our SQL.
  const settings = ["-h", HOST, "-p", String(port), "-k", "", "-c", "fsync=off"];
  const child = spawn(join(DEBIAN_POSTGRES_BIN, "postgres"), ["-D", cluster, ...settings], {
    ...chooseServiceUser(undefined),
    cwd: "/",
    stdio: "ignore",
  });
  // A test that times out never comes to its own end.
  const endWithUs = () => void child.kill("SIGINT");
  process.once("exit", endWithUs);
  child.once("exit", () => process.removeListener("exit", endWithUs));
  await untilAnswering(child, urlOn(port));
  return async () => {
    const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    child.kill("SIGINT");
    await gone;
  };
}

async function untilAnswering(child: ChildProcess, url: string): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (child.exitCode === null && performance.now() < deadline) {
    const client = new pg.Client({ connectionString: url });
    client.on("error", () => {});
    try {
      await client.connect();
      return;
    } catch {
      await delay(20);
    } finally {
      await client.end().catch(() => {});
    }
  }
  child.kill("SIGKILL");
  throw new Error("Debian's PostgreSQL did not start.");
}
