import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chownSync, existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { findFreePort } from "../embedded/find-free-port.js";
import { chooseServiceUser } from "../embedded/service-user.js";
import { makeTempFolder } from "./temp-folder.js";

const BIN = "/usr/lib/postgresql/15/bin";
const HOST = "127.0.0.1";

export interface DebianPostgres {
  readonly url: string;
  stop(): Promise<void>;
}

/** What is missing to run Debian's PostgreSQL 15 here; `npm test` installs it where it may. */
export function findMissingDebianPostgres(): string | undefined {
  return existsSync(join(BIN, "initdb")) ? undefined : "Debian's PostgreSQL 15 is not installed.";
}

/** A cluster of its own, made and ended for one test file. */
export async function launchDebianPostgres(): Promise<DebianPostgres> {
  const folder = makeTempFolder();
  const user = chooseServiceUser(undefined);
  if (user) chownSync(folder.path, user.uid, user.gid);
  const cluster = join(folder.path, "cluster");
  const options = ["-D", cluster, "-U", "throughline", "-A", "trust", "-E", "UTF8", "--no-sync"];
  execFileSync(join(BIN, "initdb"), options, {
    ...user,
    cwd: "/",
    stdio: "ignore",
  });
  const port = await findFreePort(HOST);
  // Nobody kills it: what it is asked is whether it understands our SQL.
  const settings = ["-h", HOST, "-p", String(port), "-k", "", "-c", "fsync=off"];
  const child = spawn(join(BIN, "postgres"), ["-D", cluster, ...settings], {
    ...user,
    cwd: "/",
    stdio: "ignore",
  });
  // A test that times out never comes to its own end.
  const endWithUs = () => void child.kill("SIGINT");
  process.once("exit", endWithUs);
  child.once("exit", () => process.removeListener("exit", endWithUs));
  const url = `postgres://throughline@${HOST}:${port}/postgres`;
  await untilAnswering(child, url);
  return {
    url,
    stop: async () => {
      const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
      child.kill("SIGINT");
      await gone;
      folder.remove();
    },
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
