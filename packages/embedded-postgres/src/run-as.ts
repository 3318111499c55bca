import { execFileSync, spawnSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { rename } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { movedBinaries, type PostgresBinaries } from "./cluster.js";
import { noServiceUser } from "./errors.js";

export interface ServiceUser {
  readonly uid: number;
  readonly gid: number;
}

const CREATED_NAME = "throughline";

/**
 * Whom PostgreSQL runs as. It refuses root, so root hands it to another user: the owner of data that already exists, else
 * `postgres`, else a user made for it. `undefined` means: as ourselves.
 */
export function chooseServiceUser(existingData: string | undefined): ServiceUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const owner = existingData === undefined ? undefined : statSync(existingData);
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  return lookUp("postgres") ?? lookUp(CREATED_NAME) ?? createUser();
}

/** Asks the system itself, because mode bits alone don't tell what access lists and namespaces allow. */
function mayEnter(user: ServiceUser, folder: string): boolean {
  return spawnSync("/bin/sh", ["-c", 'cd "$1"', "sh", folder], { ...user, cwd: "/" }).status === 0;
}

export function mayRun(user: ServiceUser, program: string): boolean {
  return spawnSync(program, ["--version"], { ...user, cwd: "/" }).status === 0;
}

function lookUp(name: string): ServiceUser | undefined {
  const id = (flag: string) =>
    Number(execFileSync("id", [flag, name], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }));
  try {
    return { uid: id("-u"), gid: id("-g") };
  } catch {
    return undefined;
  }
}

function createUser(): ServiceUser {
  // shadow's useradd, else busybox's adduser.
  const ways: readonly (readonly [string, readonly string[]])[] = [
    ["useradd", ["--system", "--user-group", "--no-create-home", CREATED_NAME]],
    ["adduser", ["-S", "-D", "-H", CREATED_NAME]],
  ];
  const failures: unknown[] = [];
  for (const [program, options] of ways) {
    try {
      execFileSync(program, options, { stdio: "pipe" });
    } catch (error) {
      failures.push(error);
    }
    const user = lookUp(CREATED_NAME);
    if (user) return user;
  }
  throw noServiceUser(new AggregateError(failures));
}

/** Where the cluster lies: the folder that was asked for, or one that PostgreSQL's user can reach. */
export interface ServerHome {
  readonly folder: string;
  /** PostgreSQL's own data folder, which exists only once it is complete. */
  readonly cluster: string;
}

const LOCATION = "location";
const SHARED_STATE = "/var/lib/throughline";

/** Where the cluster was put before, if it was: a second start must never make a second, empty database. */
export function findHome(dataDir: string): ServerHome | undefined {
  const elsewhere = readLocation(dataDir);
  if (elsewhere !== undefined && existsSync(elsewhere)) return homeIn(elsewhere);
  const home = homeIn(dataDir);
  return existsSync(home.cluster) ? home : undefined;
}

export function chooseHome(
  dataDir: string,
  user: ServiceUser | undefined,
  log: (line: string) => void,
): ServerHome {
  if (user === undefined || mayEnter(user, dataDir)) return homeIn(dataDir);
  const folder = makeReachableFolder(dataDir);
  writeFileSync(join(dataDir, LOCATION), `${folder}\n`);
  log(`PostgreSQL runs as another user than root, who can't enter ${dataDir}: its data is in ${folder}.`);
  return homeIn(folder);
}

/** The binaries themselves may lie below a folder that PostgreSQL's user can't enter: then a copy is kept beside the data. */
export async function reachableBinaries(
  binaries: PostgresBinaries,
  user: ServiceUser | undefined,
  home: ServerHome,
  release: string,
): Promise<PostgresBinaries> {
  if (user === undefined || mayRun(user, binaries.postgres)) return binaries;
  const root = join(home.folder, `binaries-${release}`);
  if (!existsSync(root)) {
    const copy = `${root}.new-${randomBytes(6).toString("hex")}`;
    cpSync(binaries.root, copy, { recursive: true, verbatimSymlinks: true });
    chmodSync(copy, 0o755);
    await rename(copy, root);
  }
  return movedBinaries(binaries, root);
}

function homeIn(folder: string): ServerHome {
  return { folder, cluster: join(folder, "cluster") };
}

function readLocation(dataDir: string): string | undefined {
  try {
    return readFileSync(join(dataDir, LOCATION), "utf8").trim() || undefined;
  } catch {
    return undefined;
  }
}

/** A fresh name each time: a person who deletes the folder expects an empty database, not the old one back. */
function makeReachableFolder(dataDir: string): string {
  const hash = createHash("sha256").update(dataDir).digest("hex").slice(0, 12);
  for (const base of [SHARED_STATE, tmpdir()]) {
    try {
      mkdirSync(base, { recursive: true, mode: 0o755 });
      const folder = mkdtempSync(join(base, `postgres-${basename(dataDir)}-${hash}-`));
      chmodSync(folder, 0o755);
      return folder;
    } catch (error) {
      if (base !== SHARED_STATE) throw error;
    }
  }
  throw new Error("unreachable");
}

/** What a start that was killed half-way left behind. */
export function removeLeftovers(home: ServerHome, names: readonly string[]): void {
  for (const name of names) {
    if (/^(cluster|binaries-.*)\.new-/.test(name)) rmSync(join(home.folder, name), { recursive: true });
  }
}
