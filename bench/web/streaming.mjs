import { randomUUID } from "node:crypto";
import { median } from "../median.mjs";
import { runOf } from "../server/our-routes.mjs";
import { signedIn } from "./launch-browser.mjs";

export const HISTORY = 200;
export const TOKENS_PER_SECOND = 50;
export const CPU_SLOWDOWN = 4;

const ACCOUNT = "bench";
const WORDS_OF_HISTORY = 40;
/** As models write: a browser lays out a paragraph as a whole with each word that comes. */
const WORDS_OF_PARAGRAPH = 60;
/** Tokens until the page has loaded and settled; those behind them are measured. */
const LEAD_TOKENS = 4 * TOKENS_PER_SECOND;

/** A page is opened in the middle of an answer, behind a long conversation, on a slow machine, and stays until its end. */
export async function measureStreaming(browser, { service, console }, { rounds, seconds, progress }) {
  const threadId = randomUUID();
  for (let told = 0; told < HISTORY / 2; told++) {
    await run(service, threadId, { tokens: WORDS_OF_HISTORY, firstMs: 0, paceMs: 0 });
  }
  progress(`  ${HISTORY} messages are there`);
  const all = [];
  for (let round = 0; round < rounds; round++) {
    const seen = await watchOnce(browser, { service, console, threadId, seconds });
    progress(`  LCP ${Math.round(seen.lcpMs)} ms, longest task ${Math.round(seen.longestMs)} ms`);
    all.push(seen);
  }
  const medianOf = (name) => median(all.map((seen) => seen[name]));
  return {
    lcpMs: medianOf("lcpMs"),
    longestMs: medianOf("longestMs"),
    longTasks: medianOf("longTasks"),
    longestAtLoadMs: medianOf("longestAtLoadMs"),
  };
}

async function watchOnce(browser, { service, console, threadId, seconds }) {
  const context = await signedIn(browser, console, ACCOUNT);
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send("Emulation.setCPUThrottlingRate", { rate: CPU_SLOWDOWN });
  await page.addInitScript(observe);
  const tokens = LEAD_TOKENS + seconds * TOKENS_PER_SECOND;
  const isOver = run(service, threadId, {
    tokens,
    firstMs: 0,
    paceMs: 1_000 / TOKENS_PER_SECOND,
    paragraph: WORDS_OF_PARAGRAPH,
  });
  await page.goto(`/agents/typist/${threadId}`);
  const answer = page.getByRole("region", { name: "Conversation" }).getByRole("listitem").last();
  await answer.filter({ hasText: `word${LEAD_TOKENS - 1}` }).waitFor();
  const atLoad = await page.evaluate(() => globalThis.seen.tasks.splice(0));
  await isOver;
  await answer.filter({ hasText: `word${tokens - 1}` }).waitFor();
  const { tasks, lcpMs } = await page.evaluate(() => globalThis.seen);
  await context.close();
  return {
    lcpMs,
    // A browser tells of tasks over 50 ms alone: 0 is none.
    longestMs: Math.max(0, ...tasks),
    longTasks: tasks.length,
    longestAtLoadMs: Math.max(0, ...atLoad),
  };
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

async function run(service, threadId, typing) {
  const { url, body } = runOf(service, "typist", threadId, typing);
  const answer = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", "x-throughline-account": ACCOUNT },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  if (!text.includes("RUN_FINISHED")) throw new Error(`A run of the bench failed: ${text.slice(-500)}`);
}
