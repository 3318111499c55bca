import pg from "pg";
import { readSse } from "../server/sse-reader.mjs";
import { createLagHistogram } from "./lag-histogram.mjs";
import { measureLoad } from "./measure-load.mjs";

const SLICE_MS = 500;

/**
 * The same load beside a graph that burns CPU, half a second at a time without a pause. Runs are told apart by who drives
 * them: the process that the burning graph runs in, or another.
 */
export async function measureBurn(subject, load) {
  const registry = await openRegistry(subject.databaseUrl);
  const totalMs = ((load.warmSeconds ?? 5) + load.seconds + 30) * 1_000;
  const burning = await subject.createRun({ burnMs: totalMs, sliceMs: SLICE_MS }, "burner");
  const reading = readSse(burning.start, () => {});
  try {
    await reading.opened;
    const owners = new Map();
    const burner = await registry.ownerOf(burning.id);
    const result = await measureLoad(subject, {
      ...load,
      keepsLags: true,
      onRunStarted: (id) => void registry.ownerOf(id).then((owner) => owners.set(id, owner)),
    });
    const { runs, samples, ...rest } = result;
    const beside = ({ id }) => owners.get(id) === burner;
    return {
      ...rest,
      "driven elsewhere": lagsOf(runs.filter((run) => owners.get(run.id) !== undefined && !beside(run))),
      "driven where it burns": lagsOf(runs.filter(beside)),
      "burner's own process was known": burner !== undefined,
    };
  } finally {
    reading.leave();
    await registry.close();
  }
}

/** One worker is killed in the middle. Runs are told apart by whether they had to be recovered. */
export async function measureKill(subject, load) {
  const registry = await openRegistry(subject.databaseUrl);
  let killedAt;
  try {
    const result = await measureLoad(subject, {
      ...load,
      keepsLags: true,
      onMeasuring() {
        setTimeout(
          () => {
            killedAt = Date.now();
            process.kill(subject.workers[0], "SIGKILL");
          },
          (load.seconds * 1_000) / 3,
        );
      },
    });
    const { runs, samples, ...rest } = result;
    const open = runs.filter(({ startedAt, endedAt }) => startedAt < killedAt && endedAt > killedAt);
    const recovered = await registry.recovered(open.map(({ id }) => id));
    const pausesOf = (some) => ({
      runs: some.length,
      "longest pause ms": Math.max(0, ...some.map(({ longestPauseMs }) => longestPauseMs)),
    });
    return {
      ...rest,
      "runs of other workers": pausesOf(open.filter(({ id }) => !recovered.has(id))),
      "runs of the killed worker": pausesOf(open.filter(({ id }) => recovered.has(id))),
    };
  } finally {
    await registry.close();
  }
}

function lagsOf(runs) {
  const histogram = createLagHistogram();
  for (const { lags } of runs) for (const lag of lags) histogram.add(lag);
  return { runs: runs.length, "token lag ms": histogram.summary() };
}

async function openRegistry(url) {
  const pool = new pg.Pool({ connectionString: url, max: 2 });
  return {
    /** The instance that drives a run, by the id its client gave it; waits until one does. */
    async ownerOf(alias) {
      for (let tries = 0; tries < 200; tries++) {
        const { rows } = await pool.query("select owner from throughline.runs where alias = $1", [alias]);
        if (rows[0]?.owner) return rows[0].owner;
        await new Promise((resolve) => setTimeout(resolve, 25));
      }
      return undefined;
    },
    async recovered(aliases) {
      const { rows } = await pool.query(
        "select alias from throughline.runs where alias = any($1) and attempt > 0",
        [aliases],
      );
      return new Set(rows.map(({ alias }) => alias));
    },
    close: () => pool.end(),
  };
}
