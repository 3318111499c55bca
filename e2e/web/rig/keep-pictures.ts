import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Visitor } from "./visitor.js";

const FOLDER = fileURLToPath(new URL("../../../.throughline/failed/", import.meta.url));

/** What everybody's pages show right now, into `.throughline/failed`. */
export async function keepPictures(test: string, visitors: readonly Visitor[]): Promise<void> {
  mkdirSync(FOLDER, { recursive: true });
  const pages = visitors.flatMap(({ context }) => context.pages());
  const name = test.replace(/\W+/g, "-").slice(0, 80);
  for (const [at, page] of pages.entries()) {
    // One that hangs must not hide why the test failed.
    await page.screenshot({ path: join(FOLDER, `${name}-${at}.png`), timeout: 10_000 }).catch(() => {});
  }
}
