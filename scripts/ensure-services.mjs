// @ts-check
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

/** What tests start themselves and no registry package brings, by the program whose presence shows that it is there. */
const DEBIAN_PACKAGES = {
  "redis-server": "/usr/bin/redis-server",
  "postgresql-15": "/usr/lib/postgresql/15/bin/initdb",
  tmux: "/usr/bin/tmux",
  chromium: "/usr/bin/chromium",
};

/**
 * Installs what is missing of them where that is ours to do: as root on a Debian machine, once, before test files run side
 * by side. Elsewhere the tests that need them say so.
 */
export function ensureServices() {
  const missing = Object.entries(DEBIAN_PACKAGES).filter(([, program]) => !existsSync(program));
  if (missing.length === 0 || process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) return;
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const names = missing.map(([name]) => name);
  for (const args of [["update"], ["install", "-y", "--no-install-recommends", ...names]]) {
    spawnSync("apt-get", args, { env, stdio: "ignore" });
  }
}
