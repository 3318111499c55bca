import { execFileSync, spawnSync } from "node:child_process";
import { statSync } from "node:fs";
import { noServiceUser } from "./start-failure.js";

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
export function mayEnter(user: ServiceUser, folder: string): boolean {
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
