import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { median } from "../median.mjs";
import { signedIn } from "./launch-browser.mjs";
import { traceMainThread } from "./main-thread.mjs";
import { countSidebarRenders } from "./sidebar-renders.mjs";
import { ACCOUNT, typeOnce } from "./type-once.mjs";

export const HISTORY = 200;
export const TOKENS_PER_SECOND = 50;
export const CPU_SLOWDOWN = 4;

/** As models write: words of a paragraph, of a list and of a table, in turn. A browser lays out each as a whole. */
const SECTIONS = [60, 120, 90];
const WORDS_OF_HISTORY = 40;
const SECTIONS_OF_HISTORY = [12, 16, 12];
/** Tokens until the page has loaded and settled; those behind them are measured. */
const LEAD_TOKENS = 4 * TOKENS_PER_SECOND;
const LOOK_EVERY_MS = 100;
/** What the end of a run brings with it, lists that are asked for anew included. */
const AFTERMATH_MS = 1_000;

/** A page is opened in the middle of an answer, behind a long conversation, on a slow machine, and stays until its end. */
export async function measureStreaming(browser, { service, console }, { rounds, seconds, progress }) {
  const threadId = randomUUID();
  for (let told = 0; told < HISTORY / 2; told++) {
    await typeOnce(service, threadId, {
      tokens: WORDS_OF_HISTORY,
      firstMs: 0,
      paceMs: 0,
      sections: SECTIONS_OF_HISTORY,
    });
  }
  progress(`  ${HISTORY} messages are there`);
  const all = [];
  for (let round = 0; round < rounds; round++) {
    const slow = await watchOnce(browser, { service, console, threadId, seconds, slowdown: CPU_SLOWDOWN });
    // On its own: to slow a page down is to let it spin, which a trace would count, and to trace it costs it time.
    const traced = await watchOnce(browser, { service, console, threadId, seconds, isTraced: true });
    const seen = { ...slow, longestCpuMs: CPU_SLOWDOWN * traced.longestCpuMs };
    progress(
      `  LCP ${Math.round(seen.lcpMs)} ms, longest task ${Math.round(seen.longestMs)} ms by the clock, ${Math.round(seen.longestCpuMs)} ms of CPU (unslowed: ${traced.longestParts.map(([name, ms]) => `${name} ${ms.toFixed(1)}`).join(", ")})`,
    );
    all.push(seen);
  }
  // On its own as well: to count costs the page time.
  const { renders } = await watchOnce(browser, { service, console, threadId, seconds, isCounted: true });
  progress(
    `  sidebar rendered with ${renders.sidebarWithToken} of ${renders.tokenCommits} updates of the answer`,
  );
  const medianOf = (name) => median(all.map((seen) => seen[name]));
  return {
    lcpMs: medianOf("lcpMs"),
    longestMs: medianOf("longestMs"),
    longestCpuMs: medianOf("longestCpuMs"),
    longTasks: medianOf("longTasks"),
    longestAtLoadMs: medianOf("longestAtLoadMs"),
    sidebarPerToken: renders.sidebarWithToken / renders.tokenCommits,
  };
}

async function watchOnce(
  browser,
  { service, console, threadId, seconds, slowdown = 1, isTraced = false, isCounted = false },
) {
  const context = await signedIn(browser, console, ACCOUNT);
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send("Emulation.setCPUThrottlingRate", { rate: slowdown });
  await page.addInitScript(observe);
  if (isCounted) await page.addInitScript(countSidebarRenders);
  const tokens = LEAD_TOKENS + seconds * TOKENS_PER_SECOND;
  const isOver = typeOnce(service, threadId, {
    tokens,
    firstMs: 0,
    paceMs: 1_000 / TOKENS_PER_SECOND,
    sections: SECTIONS,
  });
  await page.goto(`/agents/typist/${threadId}`);
  await untilShown(page, `word${LEAD_TOKENS - 1}`);
  // What polls bring would render the sidebar as well: what is counted is what tokens do.
  if (isCounted) await page.route("**/api/throughline/**", () => {});
  const atLoad = await page.evaluate(() => {
    globalThis.renders?.begin();
    return globalThis.seen.tasks.splice(0);
  });
  const trace = isTraced ? await traceMainThread(session) : undefined;
  // The end of a run is told in the sidebar, so it is not counted.
  if (isCounted) await untilShown(page, `word${tokens - TOKENS_PER_SECOND}`);
  const renders = await page.evaluate(() => globalThis.renders?.end());
  await isOver;
  await untilShown(page, `word${tokens - 1}`);
  await pause(AFTERMATH_MS);
  const { tasks, lcpMs } = await page.evaluate(() => globalThis.seen);
  const { longestCpuMs, longestParts } = (await trace?.stop()) ?? {};
  await context.close();
  return {
    lcpMs,
    // A browser tells of tasks over 50 ms alone: 0 is none.
    longestMs: Math.max(0, ...tasks),
    longestCpuMs,
    longestParts,
    longTasks: tasks.length,
    longestAtLoadMs: Math.max(0, ...atLoad),
    renders,
  };
}

/** Looks at the newest turn alone: to find it by its role would take the page longer than anything that is measured here. */
async function untilShown(page, word) {
  const isShown = (wanted) =>
    document.querySelector("[aria-label=Conversation] ol > :last-child")?.textContent.includes(wanted);
  while (!(await page.evaluate(isShown, word))) await pause(LOOK_EVERY_MS);
}

/** In the page, before anything else. */
function observe() {
  globalThis.seen = { tasks: [], lcpMs: 0 };
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) globalThis.seen.tasks.push(duration);
  }).observe({ type: "longtask", buffered: true });
  new PerformanceObserver((list) => {
    globalThis.seen.lcpMs = list.getEntries().at(-1).startTime;
  }).observe({ type: "largest-contentful-paint", buffered: true });
}
