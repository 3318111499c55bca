import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, type BrowserContext, chromium } from "playwright-core";

/** A Chromium of its own, with an empty profile. */
export interface Chromium {
  readonly browser: Browser;
  /** The profile's own context: its tabs are hidden and frozen as a person's are, one behind the other. */
  readonly context: BrowserContext;
  close(): Promise<void>;
}

const PROGRAM = "chromium";
const FLAGS = [
  "--headless=new",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--no-default-browser-check",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--disable-dev-shm-usage",
  "--remote-debugging-port=0",
];

/** On a machine that builds for others a missing Chromium is a failure; elsewhere it is said, and what needs it is left out. */
export function hasChromium(): boolean {
  if (spawnSync(PROGRAM, ["--version"], { stdio: "ignore" }).status === 0) return true;
  if (process.env.CI === "true") throw new Error("There is no chromium: install it, pages are shown in it.");
  console.log("Left out: there is no chromium on the PATH to show pages in. Install it to run these.");
  return false;
}

/**
 * Started by hand and driven over its debugging port: what playwright starts itself pretends to every page that it is looked
 * at, so that none is ever hidden or frozen.
 */
export async function launchChromium(): Promise<Chromium> {
  const profile = mkdtempSync(join(tmpdir(), "throughline-chromium-"));
  const child = spawn(PROGRAM, [...FLAGS, `--user-data-dir=${profile}`, "about:blank"], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  // Its pages are processes of their own, and end with it.
  const kill = () => void child.kill("SIGKILL");
  process.once("exit", kill);
  const address = await new Promise<string>((resolve, reject) => {
    let said = "";
    child.stderr.on("data", (bytes: Buffer) => {
      said = (said + bytes.toString()).slice(-10_000);
      const found = /DevTools listening on (ws:\S+)/.exec(said)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.once("error", reject);
    child.once("exit", (code) =>
      reject(new Error(`Chromium ended with ${code} before it listened:\n${said}`)),
    );
  });
  const browser = await chromium.connectOverCDP(address, { noDefaults: true });
  const [context] = browser.contexts();
  if (!context) throw new Error("Chromium has no context.");
  return {
    browser,
    context,
    async close() {
      const session = await browser.newBrowserCDPSession();
      // Answered, or gone before it could answer.
      await session.send("Browser.close").catch(() => {});
      await gone;
      process.removeListener("exit", kill);
      rmSync(profile, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}
