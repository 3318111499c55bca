// What the console costs a person: what is downloaded first, how smoothly a stream is shown, how soon all of it is up.
import { mkdtempSync, rmSync } from "node:fs";
import { chmod } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEmbeddedPostgres } from "@throughline/embedded-postgres";
import { freePort } from "../../scripts/free-port.mjs";
import { runConsole } from "../../scripts/run-console.mjs";
import { startServe } from "../server/child-process.mjs";
import { atMost } from "../targets.mjs";
import { measureFirstLoads, THREAD } from "./first-load.mjs";
import { launchBrowser } from "./launch-browser.mjs";
import { CPU_SLOWDOWN, HISTORY, measureStreaming, TOKENS_PER_SECOND } from "./streaming.mjs";
import { measureWarmStarts } from "./warm-start.mjs";

const HOST = "127.0.0.1";

/** @param {{ quick: boolean, progress: (text: string) => void }} options */
export async function runBench({ quick, progress }) {
  const browser = await launchBrowser();
  try {
    const { loads, streaming } = await withConsole(progress, async (urls) => ({
      loads: await measureFirstLoads(browser, urls, progress),
      streaming: await measureStreaming(browser, urls, {
        rounds: quick ? 1 : 9,
        seconds: quick ? 6 : 12,
        progress,
      }),
    }));
    const start = await measureWarmStarts(browser, { rounds: quick ? 1 : 3, progress });
    return report({ loads, streaming, start });
  } finally {
    await browser.close();
  }
}

/** The service with the bench's own graphs, and the console before it. */
async function withConsole(progress, measure) {
  const folder = mkdtempSync(join(tmpdir(), "throughline-bench-"));
  await chmod(folder, 0o755);
  const undo = [() => rmSync(folder, { recursive: true, force: true })];
  try {
    const postgres = await startEmbeddedPostgres({ dataDir: join(folder, "postgres"), log: progress });
    undo.push(() => postgres.stop());
    const service = await startServe(postgres.url);
    undo.push(() => service.stop());
    const fail = (sentence) => {
      throw new Error(sentence);
    };
    const console = await runConsole({
      host: HOST,
      port: await freePort({ host: HOST, wanted: 0, from: 0 }),
      serviceUrl: service.url,
      signIn: "account",
      onTrouble: fail,
      onLost: fail,
    });
    undo.push(() => console.stop());
    return await measure({ service: service.url, console: console.url });
  } finally {
    for (const step of undo.reverse()) await step();
  }
}

function report({ loads, streaming, start }) {
  const { lcpMs, longestMs, longestCpuMs, longTasks, longestAtLoadMs, sidebarPerToken } = streaming;
  const stream = `${TOKENS_PER_SECOND} tokens/s of lists and tables, ${HISTORY} messages, ${CPU_SLOWDOWN}x CPU`;
  return {
    ours: {
      "first load": Object.fromEntries(
        Object.entries(loads).flatMap(([page, { first, all }]) => [
          [`${page}, JS gzip KB`, first / 1_024],
          [`${page}, with what it loads on demand`, all / 1_024],
        ]),
      ),
      [stream]: {
        "LCP, ms": lcpMs,
        "longest task, ms": longestMs,
        [`longest task, CPU ms x ${CPU_SLOWDOWN}`]: longestCpuMs,
        "tasks over 50 ms": longTasks,
        "longest while loading, ms": longestAtLoadMs,
        "renders of the sidebar per update of the answer": sidebarPerToken,
      },
      "warm npm start": { "to a usable page, s": start },
    },
    peer: {},
    targets: [
      atMost("first-load JS of a thread, gzip KB", loads[THREAD].first / 1_024, 235),
      atMost("longest task while a stream is shown, ms", longestMs, 50),
      atMost("LCP of a thread, ms", lcpMs, 2_500),
      atMost("renders of the sidebar per update of the answer", sidebarPerToken, 0),
      atMost("warm npm start to a usable page, s", start, 10),
    ],
  };
}
