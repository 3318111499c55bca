import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chownSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { PostgresBinaries } from "./cluster.js";
import { noEmbeddedPostgres, startFailure } from "./errors.js";
import { childEnvironment } from "./postmaster.js";
import type { DataFolder, ServiceUser } from "./run-as.js";

export const SUPERUSER = "throughline";
const PASSWORD_FILE = "throughline.password";

/**
 * Creates the cluster and its password in a staging folder and renames it into place: if this process is killed, the cluster is
 * complete or missing, and of two that were created at once only one survives.
 */
export async function createCluster(
  home: DataFolder,
  binaries: PostgresBinaries,
  user: ServiceUser | undefined,
): Promise<void> {
  const staging = `${home.cluster}.new-${randomBytes(6).toString("hex")}`;
  const cluster = join(staging, "cluster");
  const password = join(staging, "password");
  try {
    mkdirSync(cluster, { recursive: true, mode: 0o700 });
    writeFileSync(password, randomBytes(24).toString("base64url"), { mode: 0o600 });
    if (user) for (const path of [staging, cluster, password]) chownSync(path, user.uid, user.gid);
    await runInitdb(binaries.initdb, home, ["-D", cluster, `--pwfile=${password}`], user);
    renameSync(password, join(cluster, PASSWORD_FILE));
    renameSync(cluster, home.cluster);
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

export function readPassword(cluster: string): string {
  return readFileSync(join(cluster, PASSWORD_FILE), "utf8");
}

/** The major version that made the data, or `undefined` where there is none. */
export function readMajorVersion(cluster: string): string | undefined {
  try {
    return readFileSync(join(cluster, "PG_VERSION"), "utf8").trim();
  } catch {
    return undefined;
  }
}

function runInitdb(
  program: string,
  { cluster }: DataFolder,
  where: readonly string[],
  user: ServiceUser | undefined,
): Promise<void> {
  const options = [
    ...where,
    `--username=${SUPERUSER}`,
    "--auth=scram-sha-256",
    "--encoding=UTF8",
    "--locale=C",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--no-instructions",
  ];
  const child = spawn(program, options, {
    ...user,
    cwd: "/",
    env: childEnvironment(),
    stdio: ["ignore", "ignore", "pipe"],
  });
  let output = "";
  child.stderr.on("data", (chunk: Buffer) => {
    output += chunk.toString("utf8");
  });
  return new Promise((resolve, reject) => {
    // A binary for another C library fails to start as if it were missing.
    child.once("error", (error) => reject(noEmbeddedPostgres(error)));
    child.once("close", (code) => {
      if (code === 0) resolve();
      else reject(startFailure(cluster, output, new Error(output)));
    });
  });
}
