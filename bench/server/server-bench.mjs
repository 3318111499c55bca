// What the service costs over what it is made of: the bare graph, a bare response, the server that LangGraph ships.
import { mkdtempSync, rmSync } from "node:fs";
import { chmod } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEmbeddedPostgres } from "@throughline/thread-log";
import { atLeast, atMost } from "../targets.mjs";
import { startChild } from "./child-process.mjs";
import { measureFirstTokens } from "./first-token.mjs";
import { measureFrameCosts, WATCHERS } from "./frame-cost.mjs";
import { measureIdleMemory } from "./idle-memory.mjs";
import { LENGTHS, measureReconnects } from "./reconnect-time.mjs";

const IDLE_WATCHERS = 5_000;

/** @param {{ quick: boolean, progress: (text: string) => void }} options */
export async function runBench({ quick, progress }) {
  const folder = mkdtempSync(join(tmpdir(), "throughline-bench-"));
  await chmod(folder, 0o755);
  const postgres = await startEmbeddedPostgres({ dataDir: join(folder, "postgres"), log: progress });
  const env = { BENCH_DATABASE_URL: postgres.url };
  const startOurs = () => startChild("our-server.mjs", env);
  const startBare = () => startChild("bare-server.mjs", env);
  const started = [];
  try {
    const ours = await startOurs();
    started.push(ours);
    const bare = await startBare();
    started.push(bare);
    const sides = { ours, bare };
    const first = await measureFirstTokens(sides, { rounds: quick ? 3 : 9, progress });
    const frames = await measureFrameCosts(sides, {
      rounds: quick ? 1 : 5,
      tokens: quick ? 25 : 60,
      progress,
    });
    const forgetful = await startChild("our-server.mjs", { ...env, BENCH_LINGER_MS: "0" });
    started.push(forgetful);
    const reconnects = await measureReconnects(
      { here: ours, elsewhere: forgetful },
      { times: quick ? 20 : 100, progress },
    );
    for (const server of started.splice(0)) await server.stop();
    const idle = await measureIdleMemory(
      { startOurs, startBare },
      { watchers: IDLE_WATCHERS, rounds: quick ? 1 : 3, progress },
    );
    return report({ first, frames, reconnects, idle });
  } finally {
    for (const server of started) await server.stop();
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function report({ first, frames, reconnects, idle }) {
  const idleKb = (name) => idle[name] / 1_024;
  const [shortest, longest] = [LENGTHS[0], LENGTHS.at(-1)];
  return {
    ours: {
      "first token, ms": atOnce(first.ours),
      "CPU µs per frame": watching(frames.ours),
      "KB per idle watcher": {
        "a thread each": idleKb("ours, a thread each"),
        "one thread": idleKb("ours, one thread"),
      },
      "reconnect, ms": atEvent(reconnects.here),
      "reconnect elsewhere, ms": atEvent(reconnects.elsewhere),
    },
    peer: {
      ...Object.fromEntries(
        Object.entries(first)
          .filter(([name]) => name !== "ours")
          .map(([name, times]) => [`first token, ms: ${name}`, atOnce(times)]),
      ),
      "CPU µs per frame: res.write": watching(frames["res.write"]),
      "CPU µs per frame: Hono streamSSE": watching(frames.streamSSE),
      "KB per idle watcher": { "bare response": idleKb("bare") },
    },
    targets: [
      atMost("first token of one run, ours over bare graph", first.ours[1] / first["bare graph"][1], 1.15),
      ...["stock, 10 workers", "stock, 100 workers"].map((stock) =>
        atLeast(`first token of 50 runs, ${stock} over ours`, first[stock][50] / first.ours[50], 3),
      ),
      ...WATCHERS.map((watchers) =>
        atMost(
          `CPU per frame, ${watchers} watching, ours over res.write`,
          frames.ours[watchers] / frames["res.write"][watchers],
          1.25,
        ),
      ),
      atMost("KB per idle watcher", idleKb("ours, a thread each"), 25),
      ...Object.entries(reconnects).map(([where, times]) =>
        atMost(`reconnect ${where}, at 100k over at 100`, times[longest] / times[shortest], 1.3),
      ),
    ],
  };
}

const atEvent = (times) => labelled(times, (length) => `at event ${length}`);
const atOnce = (times) => labelled(times, (runs) => `${runs} at once`);
const watching = (costs) => labelled(costs, (watchers) => `${watchers} watching`);

function labelled(values, label) {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [label(key), value]));
}
