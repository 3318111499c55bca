import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type RigPostgres, startPostgres } from "../server/rig/start-postgres.js";
import { type RigServer, startServer } from "../server/rig/start-server.js";
import { trialsOr } from "../server/rig/trials.js";
import { type FileLoad, startFileLoad } from "./rig/file-load.js";
import { firstTokenMs, medianOf } from "./rig/first-token.js";

/** Files of 40 MiB, all at once: a hundred, or `--trials` of them. */
const FILES = trialsOr(100);
const FILE_MEBIBYTES = 40;
/** So many that the process has grown to what runs alone make of it; on a slow machine as many as fit into a minute. */
const WARM_UP = 250;
const WARM_UP_MS = 60_000;
/** Of one round. What is under way then is left: the figures are of the load, not of its end. */
const LOAD_SECONDS = 75;
/** How often a first token is waited for before the load is paused or goes on. */
const TURN = 8;
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

function inMebibytes(bytes: number): string {
  return (bytes / MEBIBYTE).toFixed(0);
}

async function measure(times: number, withinMs = Number.POSITIVE_INFINITY): Promise<readonly number[]> {
  const measured: number[] = [];
  const until = performance.now() + withinMs;
  while (measured.length < times && performance.now() < until)
    measured.push(await firstTokenMs(server.url, "guest"));
  return measured;
}

const ACCOUNT = "loader";

/** Gives the path of a file that all clients download. */
async function storeFile(): Promise<string> {
  const path = "/agents/chat/threads/before/attachments";
  const answer = await fetch(`${server.url}${path}`, {
    method: "POST",
    headers: { "x-throughline-account": ACCOUNT, "content-type": "video/mp4" },
    body: Buffer.alloc(FILE_MEBIBYTES * MEBIBYTE, "load "),
  });
  const { id }: { id: string } = JSON.parse(await answer.text());
  return `${path}/${id}`;
}

interface Compared {
  readonly without: readonly number[];
  readonly during: readonly number[];
}

/**
 * First tokens with the load and with the load paused, in turns as long as it lasts: whatever else the machine does meets both
 * alike. The first of each turn is left out, because what was under way ends in it.
 */
async function compare(load: FileLoad): Promise<Compared> {
  const without: number[] = [];
  const during: number[] = [];
  while (!load.isOver()) {
    during.push(...(await measure(TURN)).slice(1));
    load.pause();
    without.push(...(await measure(TURN)).slice(1));
    load.resume();
  }
  return { without, during };
}

it(`${FILES} uploads and downloads of ${FILE_MEBIBYTES} MiB at once cost little memory, and another account little time`, async () => {
  await measure(WARM_UP, WARM_UP_MS);
  await server.memory();
  const idle = residentBytes();
  let peak = idle;
  const sampling = setInterval(() => {
    peak = Math.max(peak, residentBytes());
  }, 100);
  const slowdowns: number[] = [];
  try {
    const file = await storeFile();
    for (let round = 0; round < ROUNDS && !slowdowns.some((ratio) => ratio <= MAX_SLOWDOWN); round += 1) {
      const load = await startFileLoad(server.url, {
        account: ACCOUNT,
        file,
        files: FILES,
        mebibytes: FILE_MEBIBYTES,
        seconds: LOAD_SECONDS,
      });
      const { without, during } = await compare(load);
      const { uploads, downloads, bytesDown, refusals, seconds } = await load.done;
      const slowdown = medianOf(during) / medianOf(without);
      slowdowns.push(slowdown);
      process.stdout.write(
        `round ${round}: ${seconds.toFixed(0)} s, ${uploads} up and ${downloads} down of ${FILES} (${inMebibytes(bytesDown)} MiB), ${refusals} told to come back, RSS ${inMebibytes(idle)} → ${inMebibytes(peak)} MiB (+${inMebibytes(peak - idle)}), ` +
          `first token ${medianOf(without).toFixed(1)} → ${medianOf(during).toFixed(1)} ms (${slowdown.toFixed(2)}x, ${during.length} asked)\n`,
      );
      expect(peak - idle).toBeLessThanOrEqual(MAX_GROWTH);
      expect(bytesDown).toBeGreaterThan(10 * MEBIBYTE);
    }
  } finally {
    clearInterval(sampling);
  }
  expect(Math.min(...slowdowns)).toBeLessThanOrEqual(MAX_SLOWDOWN);
}, 360_000);
