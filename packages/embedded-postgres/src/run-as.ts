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
 * Chooses the user that PostgreSQL runs as. It refuses root, so root starts it as another user: the owner of data that already
 * exists, else `postgres`, else a user made for it. `undefined` means: as the current user.
 */
export function chooseServiceUser(existingData: string | undefined): ServiceUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const owner = existingData === undefined ? undefined : statSync(existingData);
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  return lookUp("postgres") ?? lookUp(CREATED_NAME) ?? createUser();
}

/** Whether the user may enter the folder. Tries it, because mode bits alone don't show what access lists and namespaces allow. */
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

/** The folder of the cluster: the requested one, or one that PostgreSQL's user can reach. */
export interface DataFolder {
  readonly folder: string;
  /** PostgreSQL's own data folder, which exists only once it is complete. */
  readonly cluster: string;
}

const LOCATION = "location";
const SHARED_STATE = "/var/lib/throughline";

/** The folder of an existing cluster, if there is one: a second start must never make a second, empty database. */
export function findHome(dataDir: string): DataFolder | undefined {
  const elsewhere = readLocation(dataDir);
  if (elsewhere !== undefined && existsSync(elsewhere)) return homeIn(elsewhere);
  const home = homeIn(dataDir);
  return existsSync(home.cluster) ? home : undefined;
}

export function chooseHome(
  dataDir: string,
  user: ServiceUser | undefined,
  log: (line: string) => void,
): DataFolder {
  if (user === undefined || mayEnter(user, dataDir)) return homeIn(dataDir);
  const folder = makeReachableFolder(dataDir);
  writeFileSync(join(dataDir, LOCATION), `${folder}\n`);
  log(`PostgreSQL runs as another user than root, who can't enter ${dataDir}: its data is in ${folder}.`);
  return homeIn(folder);
}

/** Binaries that PostgreSQL's user can run. If they are below a folder that it can't enter, a copy is stored next to the data. */
export async function reachableBinaries(
  binaries: PostgresBinaries,
  user: ServiceUser | undefined,
  home: DataFolder,
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

function homeIn(folder: string): DataFolder {
  return { folder, cluster: join(folder, "cluster") };
}

function readLocation(dataDir: string): string | undefined {
  try {
    return readFileSync(join(dataDir, LOCATION), "utf8").trim() || undefined;
  } catch {
    return undefined;
  }
}

/** Makes a folder with a fresh name each time: a person who deletes the old one expects an empty database. */
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

/** Removes the remains of a start that was killed half-way. */
export function removeLeftovers(home: DataFolder, names: readonly string[]): void {
  for (const name of names) {
    if (/^(cluster|binaries-.*)\.new-/.test(name)) rmSync(join(home.folder, name), { recursive: true });
  }
}
