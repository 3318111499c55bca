// What the log costs over the database below it: the same rows, as many per transaction, over as many threads and with the
// same durability, by bare calls in the same run.

import { median } from "../median.mjs";
import { atLeast, atMost } from "../targets.mjs";
import { measureBytesOnDisk } from "./bytes-on-disk.mjs";
import { measureJoins } from "./join-time.mjs";
import { measureProducers } from "./producers.mjs";
import { startServices } from "./services.mjs";
import { measureTails } from "./tail-latency.mjs";
import { measureWatcherBytes } from "./watcher-memory.mjs";

const PRODUCERS = [1, 20, 200];
const PRODUCERS_OF_EACH = [20, 200];
const PACES_MS = [25, 0];
const WATCHERS = [1, 100, 1_000];
const JOIN_LENGTHS = [1_000, 10_000, 100_000];
const IDLE_WATCHERS = 5_000;

/** @param {{ quick: boolean, progress: (text: string) => void }} options */
export async function runBench({ quick, progress }) {
  const services = await startServices(progress);
  try {
    const loads = await measureLoads(services, { quick, progress });
    const pairs = await measurePairs(services, { quick, progress });
    const tails = await measureAllTails(services, { quick, progress });
    const joins = await measureAllJoins(services, { quick, progress });
    progress(`  ${IDLE_WATCHERS} idle watchers`);
    const watcherBytes = await measureWatcherBytes(services.ours("postgres"), IDLE_WATCHERS);
    progress("  bytes on disk");
    const disk = await measureBytesOnDisk(services.postgresUrl, { runs: quick ? 50 : 200 });
    return {
      ours: {
        ...loads.ours,
        bytesPerRun: { "by template": disk.byTemplate, compacted: disk.compacted },
        twoInstances: pairs.ours,
        ...tails.ours,
        joinMs: joins.times,
        memory: { "bytes per idle watcher": watcherBytes },
      },
      peer: {
        ...loads.floor,
        twoInstances: pairs.floor,
        ...tails.floor,
        bytesPerRun: { whole: disk.whole },
      },
      targets: [
        ...loads.targets,
        ...pairs.targets,
        ...tails.targets,
        ...joins.targets,
        atMost("bytes per idle watcher", watcherBytes, 2_048),
        atMost("bytes of a run over whole entries, by template", disk.byTemplate / disk.whole, 1 / 3),
        atMost("bytes of a run over whole entries, compacted", disk.compacted / disk.whole, 1 / 8),
      ],
    };
  } finally {
    await services.stop();
  }
}

/** Rounds alternate between ours and the floor, so that a busy neighbour falls on both alike. */
async function measureLoads(services, { quick, progress }) {
  const ours = { appendsPerSecond: {}, commitP50Ms: {}, commitP99Ms: {} };
  const floor = { appendsPerSecond: {}, commitP50Ms: {}, commitP99Ms: {} };
  const targets = [];
  const rounds = quick ? 1 : 5;
  const seconds = quick ? 1 : 2;
  for (const store of services.stores) {
    for (const everyMs of PACES_MS) {
      for (const producers of PRODUCERS) {
        const label = `${store}, ${producers} ${everyMs === 0 ? "flat out" : `every ${everyMs} ms`}`;
        progress(`  ${label}`);
        const mine = [];
        const bare = [];
        for (let round = 0; round < rounds; round++) {
          const load = { producers, everyMs, seconds };
          mine.push(await measureProducers(services.ours(store), load));
          if (services.hasFloor(store)) bare.push(await measureProducers(services.floor(store), load));
        }
        note(ours, label, mine);
        if (bare.length === 0) continue;
        note(floor, label, bare);
        targets.push(everyMs > 0 ? p99Target(label, mine, bare) : rateTarget(label, mine, bare));
      }
    }
  }
  return { ours, floor, targets };
}

const ratioOf = (measure, mine, bare) =>
  median(mine.map((each, round) => each[measure] / bare[round][measure]));

const rateTarget = (label, mine, bare) =>
  atLeast(`appends over floor, ${label}`, ratioOf("perSecond", mine, bare), 0.85);

const p99Target = (label, mine, bare) =>
  atMost(`commit p99 over floor, ${label}`, ratioOf("p99", mine, bare), 2);

/** Two processes write at once, each its own threads: two instances of ours, and two bare writers. */
async function measurePairs(services, { quick, progress }) {
  const [ours, floor, targets] = [{}, {}, []];
  const pairs = [await services.startTwoInstances("ours"), await services.startTwoInstances("floor")];
  try {
    for (const producers of PRODUCERS_OF_EACH) {
      const label = `two instances, ${producers} each flat out`;
      progress(`  ${label}`);
      const [mine, bare] = [[], []];
      for (let round = 0; round < (quick ? 2 : 5); round++) {
        const load = { producers, everyMs: 0, seconds: quick ? 1 : 2 };
        mine.push(await pairs[0].measure(load));
        bare.push(await pairs[1].measure(load));
      }
      const of = (rounds, measure) => median(rounds.map((each) => each[measure]));
      ours[label] = of(mine, "perSecond");
      floor[label] = of(bare, "perSecond");
      ours[`${label}, p99 ms`] = of(mine, "p99");
      floor[`${label}, p99 ms`] = of(bare, "p99");
      targets.push(rateTarget(label, mine, bare), p99Target(label, mine, bare));
    }
  } finally {
    await Promise.all(pairs.map((pair) => pair.stop()));
  }
  return { ours, floor, targets };
}

function note(into, label, rounds) {
  into.appendsPerSecond[label] = median(rounds.map(({ perSecond }) => perSecond));
  into.commitP50Ms[label] = median(rounds.map(({ p50 }) => p50));
  into.commitP99Ms[label] = median(rounds.map(({ p99 }) => p99));
}

async function measureAllTails(services, { quick, progress }) {
  const ours = { tailP50Ms: {}, tailP99Ms: {} };
  const floor = { tailP50Ms: {}, tailP99Ms: {} };
  const targets = [];
  for (const store of services.stores.filter(services.hasFloor)) {
    for (const watchers of WATCHERS) {
      const label = `${store}, ${watchers} watchers`;
      progress(`  ${label}`);
      const load = { watchers, seconds: quick ? 1 : 4 };
      const mine = await measureTails(services.ours(store), load);
      const bare = await measureTails(services.floor(store), load);
      ours.tailP50Ms[label] = mine.p50;
      ours.tailP99Ms[label] = mine.p99;
      floor.tailP50Ms[label] = bare.p50;
      floor.tailP99Ms[label] = bare.p99;
      targets.push(atMost(`tail p50 over floor, ms, ${label}`, mine.p50 - bare.p50, 2));
    }
  }
  return { ours, floor, targets };
}

async function measureAllJoins(services, { quick, progress }) {
  const times = {};
  const targets = [];
  for (const store of services.stores) {
    progress(`  ${store}, joining threads of ${JOIN_LENGTHS.join(", ")} entries`);
    const joins = await measureJoins(services.ours(store), JOIN_LENGTHS, { times: quick ? 20 : 100 });
    for (const [length, ms] of joins) times[`${store}, ${length} entries`] = ms;
    const [shortest, longest] = [joins.get(JOIN_LENGTHS[0]), joins.get(JOIN_LENGTHS.at(-1))];
    targets.push(atMost(`join of 100k over join of 1k, ${store}`, longest / shortest, 1.1));
  }
  return { times, targets };
}
