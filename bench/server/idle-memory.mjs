import { randomUUID } from "node:crypto";
import { median } from "../median.mjs";
import { connectionOf } from "./our-routes.mjs";
import { readSse } from "./sse-reader.mjs";

const AT_ONCE = 250;
const WARMING = 500;

/**
 * Resident bytes, after garbage collection, that one more watcher costs who waits for something to happen: ours on threads
 * of their own and all on one, against open responses of a bare server. Every measurement has a process of its own, for
 * memory once taken is seldom given back.
 *
 * @returns {Promise<Record<string, number>>} by subject
 */
export async function measureIdleMemory({ startOurs, startBare }, { watchers, rounds, progress }) {
  const ofOurs = (threadName) => (url) => () => connectionOf(url, "typist", threadName(), { follow: true });
  const subjects = {
    "ours, a thread each": { start: startOurs, connect: ofOurs(randomUUID) },
    "ours, one thread": { start: startOurs, connect: ofOurs(() => "everybody's") },
    bare: { start: startBare, connect: (url) => () => ({ url: `${url}/watch/written` }) },
  };
  const seen = Object.fromEntries(Object.keys(subjects).map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, { start, connect }] of Object.entries(subjects)) {
      progress(`  ${watchers} idle, ${name}`);
      const server = await start();
      try {
        seen[name].push(await bytesPerWatcher(server, connect(server.url), watchers));
      } finally {
        await server.stop();
      }
    }
  }
  return Object.fromEntries(Object.entries(seen).map(([name, values]) => [name, median(values)]));
}

async function bytesPerWatcher(server, connect, count) {
  const warming = await openAll(connect, WARMING);
  for (const reading of warming) reading.leave();
  const before = await server.ask("rss");
  const readings = await openAll(connect, count);
  const bytes = (await server.ask("rss")) - before;
  for (const reading of readings) reading.leave();
  return bytes / count;
}

async function openAll(connect, count) {
  const readings = [];
  while (readings.length < count) {
    const some = Array.from({ length: Math.min(AT_ONCE, count - readings.length) }, () =>
      readSse(connect(), () => {}),
    );
    await Promise.all(some.map(({ opened }) => opened));
    readings.push(...some);
  }
  return readings;
}
