import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { chmod } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort } from "../../scripts/free-port.mjs";
import { median } from "../median.mjs";
import { signedIn } from "./launch-browser.mjs";

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const HOST = "127.0.0.1";

/**
 * Seconds from `npm start` to a page that lists the agents, when everything is installed and built and the database is there.
 *
 * @returns {Promise<number>}
 */
export async function measureWarmStarts(browser, { rounds, progress }) {
  const folder = mkdtempSync(join(tmpdir(), "throughline-bench-"));
  await chmod(folder, 0o755);
  const dataDir = join(folder, "postgres");
  try {
    // The first one makes the database.
    await startOnce(browser, dataDir);
    const times = [];
    for (let round = 0; round < rounds; round++) {
      times.push(await startOnce(browser, dataDir));
      progress(`  npm start to a usable page: ${times.at(-1).toFixed(1)} s`);
    }
    return median(times);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function startOnce(browser, dataDir) {
  const [port, consolePort] = [await anyPort(), await anyPort()];
  const began = performance.now();
  const child = spawn(
    "npm",
    ["start", "--", "--port", String(port), "--console-port", String(consolePort)],
    // A group of its own: npm passes no signal on.
    {
      cwd: ROOT,
      detached: true,
      env: { ...process.env, THROUGHLINE_DATA_DIR: dataDir },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  const gone = new Promise((resolveGone) => child.once("exit", resolveGone));
  try {
    const url = await printedUrl(child, consolePort);
    const context = await signedIn(browser, url);
    const page = await context.newPage();
    await page.goto("/");
    await page.getByRole("link", { name: "New thread with Poet" }).waitFor();
    const seconds = (performance.now() - began) / 1_000;
    await context.close();
    return seconds;
  } finally {
    process.kill(-child.pid, "SIGINT");
    await gone;
  }
}

const anyPort = () => freePort({ host: HOST, wanted: 0, from: 0 });

function printedUrl(child, port) {
  return new Promise((resolveUrl, reject) => {
    let said = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (bytes) => {
        said += bytes;
        const found = new RegExp(`http://\\S+:${port}\\b`).exec(said)?.[0];
        if (found) resolveUrl(found);
      });
    }
    child.once("exit", () => reject(new Error(`npm start ended before it was ready:\n${said}`)));
  });
}
