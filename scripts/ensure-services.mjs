// @ts-check
import { existsSync } from "node:fs";
import { runCommand } from "./run-command.mjs";

/** What tests start themselves and no registry package brings, by the program whose presence shows that it is there. */
const DEBIAN_PACKAGES = {
  "redis-server": "/usr/bin/redis-server",
  "postgresql-15": "/usr/lib/postgresql/15/bin/initdb",
  pgbouncer: "/usr/sbin/pgbouncer",
  tmux: "/usr/bin/tmux",
  faketime: "/usr/bin/faketime",
  chromium: "/usr/bin/chromium",
};

const missingPackages = () =>
  Object.entries(DEBIAN_PACKAGES)
    .filter(([, program]) => !existsSync(program))
    .map(([name]) => name);

/**
 * Installs what is missing of them where that is ours to do: as root on a Debian machine, once, before test files run side
 * by side. Elsewhere, and where it fails, the tests that need them say so.
 *
 * @returns {Promise<{ installed: string[] }>}
 */
export async function ensureServices() {
  const missing = missingPackages();
  if (missing.length === 0 || process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) {
    return { installed: [] };
  }
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  try {
    for (const args of [["update"], ["install", "-y", "--no-install-recommends", ...missing]]) {
      await runCommand("apt-get", args, { cwd: "/", env });
    }
  } catch {}
  const still = new Set(missingPackages());
  return { installed: missing.filter((name) => !still.has(name)) };
}
