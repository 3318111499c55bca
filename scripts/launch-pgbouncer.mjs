// @ts-check
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { chmod } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

const PROGRAM = "/usr/sbin/pgbouncer";
const HOST = "127.0.0.1";
/** Fewer than an instance has connections, so that sessions are shared also when little is asked. */
const SESSIONS = 6;

/** What is missing to run a pgbouncer here; `npm test` installs it where it may. */
export function findMissingPgbouncer() {
  return existsSync(PROGRAM) ? undefined : "Debian's pgbouncer is not installed.";
}

/**
 * A pooler in transaction mode in front of a PostgreSQL, which takes any user for the one of `target`.
 *
 * @param {string} target the server's URL
 * @returns {Promise<{ url: string, stop(): Promise<void> }>} its own URL, with the same database
 */
export async function launchPgbouncer(target) {
  const server = new URL(target);
  const folder = mkdtempSync(join(tmpdir(), "throughline-pgbouncer-"));
  await chmod(folder, 0o755);
  const port = await findFreePort();
  const login = `user=${decodeURIComponent(server.username)} password=${decodeURIComponent(server.password)}`;
  const file = join(folder, "pgbouncer.ini");
  writeFileSync(
    file,
    `[databases]
* = host=${server.hostname} port=${server.port || 5432} ${server.password === "" ? login.split(" ")[0] : login}
[pgbouncer]
listen_addr = ${HOST}
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${SESSIONS}
max_client_conn = 500
`,
  );
  // It refuses to run as root.
  const options = process.getuid?.() === 0 ? ["-q", "-u", "postgres"] : ["-q"];
  const child = spawn(PROGRAM, [...options, file], { cwd: "/", stdio: "ignore" });
  // A test that times out never comes to its own end.
  const endWithUs = () => void child.kill("SIGTERM");
  process.once("exit", endWithUs);
  const gone = new Promise((resolve) => child.once("exit", resolve));
  for (let tries = 0; !(await accepts(port)); tries++) {
    if (child.exitCode !== null || tries > 500) throw new Error("pgbouncer did not start.");
    await delay(20);
  }
  server.host = `${HOST}:${port}`;
  return {
    url: server.href,
    async stop() {
      process.removeListener("exit", endWithUs);
      child.kill("SIGTERM");
      await gone;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** @param {number} port */
function accepts(port) {
  return new Promise((resolve) => {
    const socket = connect(port, HOST);
    socket.once("connect", () => resolve(true));
    socket.once("error", () => resolve(false));
    socket.once("close", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}

function findFreePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, HOST, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });
}
