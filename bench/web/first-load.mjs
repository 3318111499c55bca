import { gzipSync } from "node:zlib";
import { signedIn } from "./launch-browser.mjs";

/** What shows that a page can be used. */
const PAGES = {
  "/": (page) => page.getByRole("link", { name: "New thread with typist" }),
  "/agents/typist": (page) => page.getByRole("textbox", { name: /^Message to typist/ }),
  "/crons": (page) => page.getByRole("link", { name: "New cron" }).first(),
  "/crons/new": (page) => page.getByRole("button", { name: "Create cron" }),
};

/**
 * @returns {Promise<Record<string, number>>} by page, the bytes of all scripts it asked for until it could be used, gzipped
 */
export async function measureFirstLoads(browser, url, progress) {
  const sizes = {};
  for (const [path, usable] of Object.entries(PAGES)) {
    const context = await signedIn(browser, url);
    const page = await context.newPage();
    const scripts = [];
    page.on("response", (response) => {
      if (response.request().resourceType() === "script") scripts.push(response.body());
    });
    await page.goto(path);
    await usable(page).waitFor();
    await page.waitForLoadState("load");
    const bodies = await Promise.all(scripts);
    sizes[path] = bodies.reduce((sum, body) => sum + gzipSync(body, { level: 6 }).length, 0);
    progress(`  ${path}: ${bodies.length} scripts, ${Math.ceil(sizes[path] / 1_024)} KB gzipped`);
    await context.close();
  }
  return sizes;
}
