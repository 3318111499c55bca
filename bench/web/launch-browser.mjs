import { execFileSync } from "node:child_process";
import { chromium } from "playwright-core";

/** The machine's own Chromium. */
export function launchBrowser() {
  return chromium.launch({ executablePath: findChromium(), args: ["--no-sandbox", "--disable-gpu"] });
}

function findChromium() {
  try {
    return execFileSync("which", ["chromium"], { encoding: "utf8" }).trim();
  } catch {
    throw new Error("This bench shows pages in Chromium: install it, so that chromium is on the PATH.");
  }
}

/** A signed-in person with an empty cache. */
export async function signedIn(browser, url, account = "bench") {
  const context = await browser.newContext({ baseURL: url, viewport: { width: 1280, height: 800 } });
  context.setDefaultTimeout(120_000);
  const answer = await context.request.post("/api/session", { headers: { origin: url }, data: { account } });
  if (!answer.ok()) throw new Error(`Sign-in failed: ${answer.status()} ${await answer.text()}`);
  return context;
}
