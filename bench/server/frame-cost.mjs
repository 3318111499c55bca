import { randomUUID } from "node:crypto";
import { median } from "../median.mjs";
import { atMost } from "../targets.mjs";
import { labelled } from "./labelled.mjs";
import { connectionOf, runOf } from "./our-routes.mjs";
import { readSse } from "./sse-reader.mjs";

const VIEWERS = [1, 100, 1_000];
/** One viewer's frames carry the cost of the whole run, which is measured per run. */
const HELD_TO_TARGET = [100, 1_000];
/** Slower than our widest window, so that a token is a frame on every side. */
const PACE_MS = 80;
const WARMING = 10;

/**
 * CPU microseconds of the serving process per frame that reached a viewer. Every side runs the same graph on the same
 * database and shows it to as many, so what one viewer costs holds the whole run; with a thousand it is nearly all writing.
 */
export async function measureFrameCosts({ ours, bare }, { rounds, tokens, progress }) {
  const typing = { tokens, firstMs: 0, paceMs: PACE_MS };
  const subjects = {
    ours: { server: ours, watch: (viewers) => watchOurs(ours, viewers, typing) },
    "res.write": { server: bare, watch: (viewers) => watchBare(bare, "written", viewers, typing) },
    streamSSE: { server: bare, watch: (viewers) => watchBare(bare, "hono", viewers, typing) },
  };
  const costs = Object.fromEntries(Object.keys(subjects).map((name) => [name, {}]));
  // Warm-up for compiled code and caches: the first run does not count.
  for (const { watch } of Object.values(subjects)) {
    const watched = await watch(WARMING);
    await watched.run();
    watched.leave();
  }
  for (const viewers of VIEWERS) {
    progress(`  one run, ${viewers} viewers`);
    const seen = Object.fromEntries(Object.keys(subjects).map((name) => [name, []]));
    for (let round = 0; round < rounds; round++) {
      for (const [name, { server, watch }] of Object.entries(subjects)) {
        const watched = await watch(viewers);
        const before = await server.ask("cpu");
        await watched.run();
        const micros = (await server.ask("cpu")) - before;
        seen[name].push(micros / watched.frames());
        watched.leave();
      }
    }
    for (const [name, values] of Object.entries(seen)) costs[name][viewers] = median(values);
  }
  return report(costs);
}

function report(costs) {
  const watching = (values) => labelled(values, (viewers) => `${viewers} watching`);
  return {
    ours: { "CPU µs per frame": watching(costs.ours) },
    peer: {
      "CPU µs per frame: res.write": watching(costs["res.write"]),
      "CPU µs per frame: Hono streamSSE": watching(costs.streamSSE),
    },
    targets: HELD_TO_TARGET.map((viewers) =>
      atMost(
        `CPU per frame, ${viewers} watching, ours over res.write`,
        costs.ours[viewers] / costs["res.write"][viewers],
        1.25,
      ),
    ),
  };
}

/** One viewer starts the run, for the stream of a start is a viewer's, too. */
async function watchOurs({ url }, viewers, typing) {
  const threadId = randomUUID();
  const others = await watchAll(viewers - 1, () => connectionOf(url, "typist", threadId, { follow: true }));
  let own = 0;
  return {
    async run() {
      const starter = readSse(runOf(url, "typist", threadId, typing), () => own++);
      await Promise.all([starter.ended, others.finished]);
    },
    frames: () => own + others.frames(),
    leave: others.leave,
  };
}

async function watchBare({ url, ask }, way, viewers, typing) {
  const all = await watchAll(viewers, () => ({ url: `${url}/watch/${way}` }));
  return {
    async run() {
      await ask("watched run", typing);
      await all.finished;
    },
    frames: all.frames,
    leave: all.leave,
  };
}

/** Opens so many streams and counts what comes after they stand; `finished`: all of them saw a run's end. */
async function watchAll(count, what) {
  let frames = 0;
  let waiting = count;
  let finish = () => {};
  const finished = new Promise((resolve) => {
    finish = resolve;
  });
  if (count === 0) finish();
  const readings = Array.from({ length: count }, () =>
    readSse(what(), (frame) => {
      frames++;
      if (frame.includes("RUN_FINISHED") && --waiting === 0) finish();
    }),
  );
  await Promise.all(readings.map(({ opened }) => opened));
  const before = frames;
  waiting = count;
  return {
    finished,
    frames: () => frames - before,
    leave() {
      for (const reading of readings) reading.leave();
    },
  };
}
