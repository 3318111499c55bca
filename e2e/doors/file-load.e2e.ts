import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type RigPostgres, startPostgres } from "../server/rig/start-postgres.js";
import { type RigServer, startServer } from "../server/rig/start-server.js";
import { trialsOr } from "../server/rig/trials.js";
import { startFileLoad } from "./rig/file-load.js";
import { firstTokenMs, medianOf } from "./rig/first-token.js";

/** Files of 40 MiB, all at once: a hundred, or `--trials` of them. */
const FILES = trialsOr(100);
const FILE_MEBIBYTES = 40;
const ASKED_BEFORE = 40;
const MEBIBYTE = 1_048_576;
const MAX_GROWTH = 150 * MEBIBYTE;
const MAX_SLOWDOWN = 1.2;
/** What else runs on the machine may slow one round down. */
const ROUNDS = 3;

let postgres: RigPostgres;
let server: RigServer;
beforeAll(async () => {
  postgres = await startPostgres();
  server = await startServer({
    databaseUrl: await postgres.createDatabase(),
    env: {
      THROUGHLINE_MAX_BODY_BYTES_PER_MINUTE: "900000000000",
      THROUGHLINE_MAX_ATTACHMENT_BYTES_PER_ACCOUNT: "900000000000",
    },
  });
});
afterAll(async () => {
  await server.stop();
  await postgres.stop();
});

/** Of the server's process. */
function residentBytes(): number {
  const [, kibibytes = "0"] =
    /VmRSS:\s*(\d+) kB/.exec(readFileSync(`/proc/${server.pid}/status`, "utf8")) ?? [];
  return Number(kibibytes) * 1_024;
}

async function measure(times: (measured: number) => boolean): Promise<readonly number[]> {
  const measured: number[] = [];
  while (times(measured.length)) measured.push(await firstTokenMs(server.url, "guest"));
  return measured;
}

it(`${FILES} uploads and downloads of ${FILE_MEBIBYTES} MiB at once cost little memory, and another account little time`, async () => {
  await measure((measured) => measured < ASKED_BEFORE);
  await server.memory();
  const idle = residentBytes();
  let peak = idle;
  const sampling = setInterval(() => {
    peak = Math.max(peak, residentBytes());
  }, 100);
  const slowdowns: number[] = [];
  try {
    for (let round = 0; round < ROUNDS && !slowdowns.some((ratio) => ratio <= MAX_SLOWDOWN); round += 1) {
      const before = medianOf(await measure((measured) => measured < ASKED_BEFORE));
      const load = await startFileLoad(server.url, {
        account: `loader-${round}`,
        files: FILES,
        mebibytes: FILE_MEBIBYTES,
      });
      const during = await measure(() => !load.isOver());
      const { refusals, seconds } = await load.done;
      const slowdown = medianOf(during) / before;
      slowdowns.push(slowdown);
      process.stdout.write(
        `round ${round}: ${seconds.toFixed(0)} s, ${refusals} told to come back, RSS ${(idle / MEBIBYTE).toFixed(0)} → ${(peak / MEBIBYTE).toFixed(0)} MiB, ` +
          `first token ${before.toFixed(1)} → ${medianOf(during).toFixed(1)} ms (${slowdown.toFixed(2)}x, ${during.length} asked)\n`,
      );
      expect(peak - idle).toBeLessThanOrEqual(MAX_GROWTH);
    }
  } finally {
    clearInterval(sampling);
  }
  expect(Math.min(...slowdowns)).toBeLessThanOrEqual(MAX_SLOWDOWN);
}, 1_800_000);
