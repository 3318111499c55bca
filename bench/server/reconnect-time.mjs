import { randomUUID } from "node:crypto";
import { median } from "../median.mjs";
import { atMost } from "../targets.mjs";
import { labelled } from "./labelled.mjs";
import { connectionOf, runOf } from "./our-routes.mjs";
import { readSse } from "./sse-reader.mjs";

const LENGTHS = [100, 10_000, 100_000];
/** A client that lost its line for a moment missed so many frames. */
const MISSED = 20;

/**
 * Milliseconds from coming back with the last id one got to holding everything again, in a run that has written so many
 * events and goes on: to the instance one has just left, and to one that holds nothing of the thread in memory.
 */
export async function measureReconnects({ here, elsewhere }, { times, progress }) {
  const threads = [];
  for (const length of LENGTHS) {
    progress(`  reconnecting, a run of ${length} events`);
    threads.push({ length, ...(await writeRun(here.url, length)) });
  }
  const seen = { here: byLength(() => []), elsewhere: byLength(() => []) };
  for (let round = 0; round < times; round++) {
    for (const { length, ...thread } of threads) {
      seen.here[length].push(await reconnect(here.url, thread));
      seen.elsewhere[length].push(await reconnect(elsewhere.url, thread));
    }
  }
  return report({
    here: byLength((length) => median(seen.here[length])),
    elsewhere: byLength((length) => median(seen.elsewhere[length])),
  });
}

function report(times) {
  const atEvent = (values) => labelled(values, (length) => `at event ${length}`);
  const [shortest, longest] = [LENGTHS[0], LENGTHS.at(-1)];
  return {
    ours: {
      "reconnect, ms: same instance": atEvent(times.here),
      "reconnect, ms: another instance": atEvent(times.elsewhere),
    },
    peer: {},
    targets: [
      ["to the same instance", times.here],
      ["to another instance", times.elsewhere],
    ].map(([where, values]) =>
      atMost(`reconnect ${where}, at 100k over at 100`, values[longest] / values[shortest], 1.3),
    ),
  };
}

function byLength(value) {
  return Object.fromEntries(LENGTHS.map((length) => [length, value(length)]));
}

/** Starts a run and leaves it once it has told of its last note. */
async function writeRun(url, notes) {
  const threadId = randomUUID();
  const ids = [];
  await new Promise((resolve, reject) => {
    const reading = readSse(runOf(url, "scribe", threadId, { notes }), (frame) => {
      const id = idOf(frame);
      if (id === undefined) return;
      ids.push(id);
      if (ids.length > 2 * MISSED) ids.shift();
      if (!frame.includes(`"note":${notes - 1},`)) return;
      reading.leave();
      resolve();
    });
    reading.ended.then(() => reject(new Error("A run ended before its time.")), reject);
  });
  return { threadId, cursor: ids.at(-1 - MISSED), head: ids.at(-1) };
}

function reconnect(url, { threadId, cursor, head }) {
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    const reading = readSse(connectionOf(url, "scribe", threadId, { cursor }), (frame) => {
      if (idOf(frame) !== head) return;
      resolve(performance.now() - startedAt);
      reading.leave();
    });
    reading.ended.then(() => reject(new Error("A stream ended before the last event.")), reject);
  });
}

function idOf(frame) {
  return /^id: ?(.*)$/m.exec(frame)?.[1];
}
