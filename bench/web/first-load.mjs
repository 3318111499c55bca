import { gzipSync } from "node:zlib";
import { signedIn } from "./launch-browser.mjs";
import { typeOnce } from "./type-once.mjs";

const WORDS = 20;
const THREAD_ID = "first-load";
/** A thread with an answer in it. */
export const THREAD = `/agents/typist/${THREAD_ID}`;

/** What shows that a page can be used. */
const PAGES = {
  "/": (page) => page.getByRole("link", { name: "New thread with typist" }),
  "/agents/typist": (page) => page.getByRole("textbox", { name: /^Message to typist/ }),
  "/crons": (page) => page.getByRole("link", { name: "New cron" }).first(),
  "/crons/new": (page) => page.getByRole("button", { name: "Create cron" }),
  "/inbox": (page) => page.getByRole("heading", { name: "Inbox", level: 1 }),
  [THREAD]: (page) => page.getByText(`word${WORDS - 1}`, { exact: false }).first(),
};

/**
 * By page, gzipped bytes: `first` of the scripts that its HTML names, which is what a first load means; `all` of those it asked
 * for until it could be used, what it loads on demand for its contents included.
 *
 * @returns {Promise<Record<string, { first: number, all: number }>>}
 */
export async function measureFirstLoads(browser, { service, console: url }, progress) {
  const sizes = {};
  await typeOnce(service, THREAD_ID, { tokens: WORDS, firstMs: 0, paceMs: 0 });
  for (const [path, usable] of Object.entries(PAGES)) {
    const context = await signedIn(browser, url);
    const page = await context.newPage();
    const scripts = [];
    page.on("response", (response) => {
      if (response.request().resourceType() === "script") scripts.push(response);
    });
    const html = await (await page.goto(path)).text();
    await usable(page).waitFor();
    await page.waitForLoadState("load");
    sizes[path] = {
      first: await gzipped(
        scripts.filter((script) => html.includes(`src="${new URL(script.url()).pathname}`)),
      ),
      all: await gzipped(scripts),
    };
    const [first, all] = [sizes[path].first, sizes[path].all].map((bytes) => Math.ceil(bytes / 1_024));
    progress(`  ${path}: ${first} KB gzipped, ${all} KB with what was loaded on demand`);
    await context.close();
  }
  return sizes;
}

async function gzipped(scripts) {
  const bodies = await Promise.all(scripts.map((script) => script.body()));
  return bodies.reduce((sum, body) => sum + gzipSync(body, { level: 6 }).length, 0);
}
