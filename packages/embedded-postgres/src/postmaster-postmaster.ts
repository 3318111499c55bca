import { execFileSync, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import type { PostgresBinaries } from "./cluster.js";
import { SUPERUSER } from "./create-cluster.js";
import { noEmbeddedPostgres, notAnswering, startFailure } from "./errors.js";
import { isOfHere, readServerHost, writeServerHost } from "./host-claim.js";
import { childEnvironment, findFreePort, inspectProcess } from "./postmaster.js";
import type { DataFolder, ServiceUser } from "./run-as.js";

export interface Postmaster {
  readonly pid: number;
  readonly port: number;
}

export interface AnsweringPostmaster extends Postmaster {
  readonly version: string;
}

const POLL_MS = 20;
/** Recovery after a crash replays the log since the last checkpoint, which takes as long as it takes. */
const READY_TIMEOUT_MS = 300_000;
const STOP_TIMEOUT_MS = 30_000;
const RELEASE_TIMEOUT_MS = 30_000;
const HOST = "127.0.0.1";

export function serverUrl(port: number, password: string): string {
  return `postgres://${SUPERUSER}:${password}@${HOST}:${port}/postgres`;
}

/**
 * Finds the server that runs on this cluster on this host. Removes a `postmaster.pid` whose pid belongs to another program now.
 * The pid of another host's server means nothing here.
 */
export function findPostmaster(home: DataFolder): Postmaster | undefined {
  const { cluster } = home;
  if (!isOfHere(readServerHost(home))) return undefined;
  const file = join(cluster, "postmaster.pid");
  const [pid, , , port] = readLines(file).map(Number);
  if (!pid || !port) return undefined;
  const running = inspectProcess(pid);
  if (running === undefined || isPostgresOn(running.command, cluster)) {
    return running === undefined ? undefined : { pid, port };
  }
  // The pid belongs to another program now, and PostgreSQL would take that program for its own server.
  rmSync(file, { force: true });
  return undefined;
}

function isPostgresOn(command: string, cluster: string): boolean {
  // Windows does not show the options of a command.
  return /postgres/i.test(command) && (process.platform === "win32" || command.includes(cluster));
}

/** Waits until the server accepts connections, which after a crash is when it has recovered. */
export async function untilAnswering(
  home: DataFolder,
  postmaster: Postmaster,
  password: string,
): Promise<AnsweringPostmaster> {
  const deadline = performance.now() + READY_TIMEOUT_MS;
  while (performance.now() < deadline && inspectProcess(postmaster.pid)) {
    const answer = await probeVersion(postmaster.port, password);
    if (answer === "wrong password") break;
    if (answer !== "not yet") return { ...postmaster, version: answer };
    await delay(POLL_MS);
  }
  throw notAnswering(home.cluster, postmaster.pid);
}

export interface Launch {
  readonly home: DataFolder;
  readonly binaries: PostgresBinaries;
  readonly user: ServiceUser | undefined;
  readonly password: string;
  /** `preferred`: reused if it is free, so that a person's bookmarked connection still works. `only`: waited for. */
  readonly port: { readonly preferred: number | undefined } | { readonly only: number };
  readonly log: (line: string) => void;
}

/** Starts the server detached: it outlives this process when that is killed, and Ctrl-C does not reach it. */
export async function launchPostmaster(launch: Launch): Promise<AnsweringPostmaster> {
  const deadline = performance.now() + RELEASE_TIMEOUT_MS;
  const isFixed = "only" in launch.port;
  const wanted = "only" in launch.port ? launch.port.only : launch.port.preferred;
  let port = wanted ?? (await findFreePort(HOST));
  writeServerHost(launch.home);
  for (;;) {
    const outcome = await launchOn(port, launch);
    if (typeof outcome !== "string") return outcome;
    const portTaken = /could not bind|Address already in use|could not create any TCP/.test(outcome);
    // Backends of a killed postmaster hold its memory until they notice; that is moments.
    const stillHeld = /still in use|lock file .* already exists/.test(outcome);
    if (!(portTaken || stillHeld) || performance.now() > deadline)
      throw startFailure(launch.home.cluster, outcome);
    if (portTaken && !isFixed) {
      launch.log(`Port ${port} is taken; PostgreSQL gets another one.`);
      port = await findFreePort(HOST);
    } else await delay(5 * POLL_MS);
  }
}

/** Launches the server on a port. Returns its log output when it ended instead of starting. */
async function launchOn(port: number, launch: Launch): Promise<AnsweringPostmaster | string> {
  const { home, binaries, user, password } = launch;
  const logFile = join(home.folder, "server.log");
  const output = openSync(logFile, "a", 0o640);
  const from = statSync(logFile).size;
  // Several instances share it, each with pools of its own; a hundred connections would be few.
  const settings = { listen_addresses: HOST, port, unix_socket_directories: "", max_connections: 300 };
  const options = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const child = spawn(binaries.postgres, ["-D", home.cluster, ...options], {
    ...user,
    cwd: "/",
    env: childEnvironment(),
    detached: true,
    stdio: ["ignore", output, output],
  });
  closeSync(output);
  child.unref();
  let ended: Error | true | undefined;
  child.once("error", (error) => {
    ended = error;
  });
  child.once("exit", () => {
    ended ??= true;
  });
  const deadline = performance.now() + READY_TIMEOUT_MS;
  for (;;) {
    // Only our own child's response counts: on a taken port another server might accept the password.
    const isOurs = Number(readLines(join(home.cluster, "postmaster.pid"))[0]) === child.pid;
    const answer = isOurs ? await probeVersion(port, password) : "not yet";
    if (ended instanceof Error) throw noEmbeddedPostgres(ended);
    if (ended) return readFileSync(logFile).subarray(from).toString("utf8");
    if (answer !== "not yet" && answer !== "wrong password" && child.pid !== undefined) {
      return { pid: child.pid, port, version: answer };
    }
    if (performance.now() > deadline) throw notAnswering(home.cluster, child.pid ?? 0);
    await delay(POLL_MS);
  }
}

/** Stops the server: ends open transactions and flushes. One that hangs is killed, and recovers at the next start. */
export async function stopPostmaster(pid: number, binaries: () => Promise<PostgresBinaries>): Promise<void> {
  const deadline = performance.now() + STOP_TIMEOUT_MS;
  signalPostmaster(pid, "INT", process.platform === "win32" ? (await binaries()).pgCtl : undefined);
  let isCutOff = false;
  while (inspectProcess(pid)) {
    if (!isCutOff && performance.now() > deadline) {
      isCutOff = true;
      signalPostmaster(pid, "QUIT", process.platform === "win32" ? (await binaries()).pgCtl : undefined);
    }
    await delay(POLL_MS);
  }
}

export function signalPostmaster(pid: number, signal: "INT" | "QUIT", pgCtl?: string): void {
  try {
    if (pgCtl === undefined) process.kill(pid, `SIG${signal}`);
    else execFileSync(pgCtl, ["kill", signal, String(pid)]);
  } catch {
    // It ended before the signal.
  }
}

/** The server's version once it accepts connections. */
async function probeVersion(port: number, password: string): Promise<string> {
  const client = new pg.Client({
    connectionString: serverUrl(port, password),
    connectionTimeoutMillis: 5_000,
  });
  client.on("error", () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ server_version: string }>("show server_version");
    return rows[0]?.server_version ?? "not yet";
  } catch (error) {
    return isCode(error, "28P01") ? "wrong password" : "not yet";
  } finally {
    await client.end().catch(() => {});
  }
}

function readLines(file: string): string[] {
  try {
    return readFileSync(file, "utf8").split("\n");
  } catch {
    return [];
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
