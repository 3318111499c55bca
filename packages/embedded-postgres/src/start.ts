import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { findPostgresBinaries } from "./cluster.js";
import { createCluster, readMajorVersion, readPassword } from "./create-cluster.js";
import { folderFailure, noEmbeddedPostgres, otherMajorVersion } from "./errors.js";
import {
  isOfHere,
  isServerInUse,
  joinServer,
  lockFolder,
  readServerHost,
  type ServerUser,
  takeOverFromOtherHost,
  tryLockFolder,
} from "./host-claim.js";
import { keepRunning } from "./keep-running.js";
import {
  type AnsweringPostmaster,
  findPostmaster,
  launchPostmaster,
  serverUrl,
  signalPostmaster,
  stopPostmaster,
  untilAnswering,
} from "./postmaster-postmaster.js";
import {
  chooseHome,
  chooseServiceUser,
  type DataFolder,
  findHome,
  reachableBinaries,
  removeLeftovers,
} from "./run-as.js";

export interface EmbeddedPostgresOptions {
  readonly dataDir?: string;
  readonly log?: (line: string) => void;
}

export interface EmbeddedPostgres {
  /** Holds the password: not for logs. */
  readonly url: string;
  /** The pid of the current server: one that ends by itself, or is killed, is started again. */
  readonly pid: number;
  /** The server ran already: another process uses it, or one that used it was killed. */
  readonly adopted: boolean;
  readonly version: string;
  /** Ends the server too, unless another process uses it. */
  stop(): Promise<void>;
}

/**
 * R23: a real PostgreSQL from npm, on loopback, with its data in a folder. Any number of processes may ask for the same
 * folder: one of them starts the server, all share it and keep it running, the last to leave stops it.
 */
export async function startEmbeddedPostgres(
  options: EmbeddedPostgresOptions = {},
): Promise<EmbeddedPostgres> {
  const log = options.log ?? (() => {});
  const asked = resolve(options.dataDir ?? join(".throughline", "postgres"));
  try {
    mkdirSync(asked, { recursive: true, mode: 0o755 });
    // One folder by two names must not become two servers.
    const dataDir = realpathSync(asked);
    const lock = await lockFolder(join(dataDir, "lock"), {
      onWait: (holder, host) =>
        log(`Process ${holder} on ${host} is starting or stopping PostgreSQL in ${dataDir}; waiting.`),
    });
    try {
      return share(dataDir, await adoptOrStart(dataDir, log), log);
    } finally {
      lock.release();
    }
  } catch (error) {
    throw folderFailure(asked, error);
  }
}

interface SharedServer {
  readonly home: DataFolder;
  readonly server: AnsweringPostmaster;
  readonly adopted: boolean;
  readonly password: string;
}

async function adoptOrStart(dataDir: string, log: (line: string) => void): Promise<SharedServer> {
  const existing = findHome(dataDir);
  await takeOverFromOtherHost(dataDir, existing, { log });
  const running = existing && findPostmaster(existing);
  if (existing && running) {
    const password = readPassword(existing.cluster);
    const server = await untilAnswering(existing, running, password);
    log(
      `PostgreSQL ${server.version} runs already on port ${server.port} (process ${server.pid}); using it.`,
    );
    return { home: existing, server, adopted: true, password };
  }
  return start(dataDir, existing, log);
}

async function start(
  dataDir: string,
  existing: DataFolder | undefined,
  log: (line: string) => void,
  onlyPort?: number,
): Promise<SharedServer> {
  const packaged = await findPostgresBinaries();
  const release = releaseOf(packaged.postgres);
  const major = existing && readMajorVersion(existing.cluster);
  const hasCluster = existing !== undefined && major !== undefined;
  if (hasCluster && major !== release.split(".")[0]) {
    throw otherMajorVersion(existing.cluster, major, release);
  }
  const user = chooseServiceUser(hasCluster ? existing.cluster : undefined);
  const home = existing ?? chooseHome(dataDir, user, log);
  removeLeftovers(home, readdirSync(home.folder));
  const binaries = await reachableBinaries(packaged, user, home, release);
  if (!hasCluster) {
    log(`Creating a PostgreSQL ${release} in ${home.folder}.`);
    await createCluster(home, binaries, user);
  }
  const password = readPassword(home.cluster);
  const portFile = join(dataDir, "port");
  const server = await launchPostmaster({
    home,
    binaries,
    user,
    password,
    port: onlyPort === undefined ? { preferred: readPort(portFile) } : { only: onlyPort },
    log,
  });
  writeFileSync(portFile, `${server.port}\n`);
  log(`PostgreSQL ${server.version} runs on port ${server.port} (process ${server.pid}).`);
  return { home, server, adopted: false, password };
}

function share(dataDir: string, shared: SharedServer, log: (line: string) => void): EmbeddedPostgres {
  const { home, server, adopted, password } = shared;
  const users = join(dataDir, "users");
  const supervision = keepRunning({ pid: server.pid, restart: () => restart(dataDir, shared, log), log });
  const us = joinServer(users, () => {
    if (isOfHere(readServerHost(home))) return;
    log("Another host took PostgreSQL's folder over while this process stood still; ending the server here.");
    supervision.release();
    signalPostmaster(supervision.pid(), "QUIT");
  });
  const onExit = () => leaveAtExit(dataDir, us, supervision.pid());
  process.once("exit", onExit);
  let stopped: Promise<void> | undefined;
  const leave = async () => {
    process.removeListener("exit", onExit);
    await supervision.release();
    const lock = await lockFolder(join(dataDir, "lock"));
    try {
      us.leave();
      if (isServerInUse(users)) return log("Another process uses PostgreSQL; it goes on running.");
      await stopPostmaster(supervision.pid(), findPostgresBinaries);
      log("PostgreSQL has stopped.");
    } finally {
      lock.release();
    }
  };
  return {
    url: serverUrl(server.port, password),
    get pid() {
      return supervision.pid();
    },
    adopted,
    version: server.version,
    stop: () => {
      stopped ??= leave();
      return stopped;
    },
  };
}

/**
 * Restarts the server on the same port, because its clients hold that URL. Another process that shares the server may have
 * started it again already.
 */
async function restart(
  dataDir: string,
  { home, server, password }: SharedServer,
  log: (line: string) => void,
): Promise<number> {
  const lock = await lockFolder(join(dataDir, "lock"));
  try {
    if (!isOfHere(readServerHost(home))) throw new Error("another host uses its folder now");
    if (readMajorVersion(home.cluster) === undefined) throw new Error(`${home.cluster} is gone`);
    const running = findPostmaster(home);
    if (running) return (await untilAnswering(home, running, password)).pid;
    return (await start(dataDir, home, log, server.port)).server.pid;
  } finally {
    lock.release();
  }
}

/** Stops the server of a process that ends without `stop`. If the lock is held, its holder needs the server. */
function leaveAtExit(dataDir: string, us: ServerUser, pid: number): void {
  try {
    us.leave();
    const lock = tryLockFolder(join(dataDir, "lock"));
    if (!lock) return;
    if (!isServerInUse(join(dataDir, "users"))) signalPostmaster(pid, "INT");
    lock.release();
  } catch {
    // The folder is gone or read-only: the next start finds the server by its pid file.
  }
}

/** `postgres (PostgreSQL) 18.4` → `18.4`. */
function releaseOf(postgres: string): string {
  try {
    const output = execFileSync(postgres, ["--version"], { encoding: "utf8", cwd: "/" });
    return /(\d+(\.\d+)*)/.exec(output)?.[1] ?? "";
  } catch (cause) {
    throw noEmbeddedPostgres(cause);
  }
}

function readPort(file: string): number | undefined {
  try {
    return Number(readFileSync(file, "utf8")) || undefined;
  } catch {
    return undefined;
  }
}
