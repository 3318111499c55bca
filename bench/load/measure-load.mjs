import { setTimeout as pause } from "node:timers/promises";
import { createReceipts } from "./commit-lag.mjs";
import { createLagHistogram } from "./lag-histogram.mjs";
import { readStored } from "./read-stored.mjs";
import { startSampling } from "./usage-sampler.mjs";
import { startViewer } from "./viewer.mjs";

export const TOKENS_PER_SECOND = 20;
const RUN_SECONDS = 20;
const LEAST_TOKENS = TOKENS_PER_SECOND;
const RETRY_MS = 1_000;
/** Over which the first runs are spread. */
const SPREAD_SECONDS = 5;

/**
 * @typedef {{ runs: number, viewers: number, seconds: number, warmSeconds?: number, comesBackEverySeconds?: number,
 *   keepsLags?: boolean, onRunStarted?: (id: string) => void, onMeasuring?: () => void }} Load
 */

/**
 * Keeps so many runs going at once, each read by so many viewers, the one that started it included. A run types 20 tokens a
 * second for 20 seconds; then another starts in a new thread. What is measured begins when all runs have begun.
 *
 * Token lag is from when a token was due to when a viewer has it: it counts the delays of graph, log, service and viewer. Commit lag is from
 * the log's row to the viewer.
 *
 * @param {import("./subject.mjs").Subject} subject
 * @param {Load} load
 */
export async function measureLoad(subject, load) {
  const { runs, seconds, warmSeconds = 5 } = load;
  const before = subject.databaseUrl && (await readStored(subject.databaseUrl));
  const startsAt = Date.now();
  const from = startsAt + warmSeconds * 1_000;
  const until = from + seconds * 1_000;
  const seen = {
    lags: createLagHistogram(),
    receipts: createReceipts(),
    counts: { tokens: 0, frames: 0, runs: 0, refused: 0, failed: 0, missing: 0, doubled: 0, returns: 0 },
    failures: new Map(),
    runs: [],
    isMeasured: (now) => now >= from && now < until,
  };
  const slots = Array.from({ length: runs }, (_, slot) =>
    keepRunning(subject, load, seen, {
      slot,
      startsAt: startsAt + (slot / runs) * Math.min(SPREAD_SECONDS, warmSeconds) * 1_000,
      until,
    }),
  );
  await pause(from - Date.now());
  const sampling = await startSampling(subject);
  load.onMeasuring?.();
  await pause(until - Date.now());
  const usage = await sampling.stop();
  await Promise.all(slots);
  const commits = subject.databaseUrl && (await seen.receipts.lags(subject.databaseUrl));
  const after = subject.databaseUrl && (await readStored(subject.databaseUrl));
  return {
    ...resultOf({ load, seen, usage, commits }),
    ...(after && { "stored per run": perRun(before, after, seen.counts.runs) }),
  };
}

function perRun(before, after, runs) {
  return Object.fromEntries(
    Object.entries(after).map(([what, bytes]) => [what, (bytes - before[what]) / runs]),
  );
}

function resultOf({ load: { runs, viewers, seconds }, seen, usage, commits }) {
  const { counts, lags, failures } = seen;
  const { samples, cores, ...used } = usage;
  const asked = runs * viewers * TOKENS_PER_SECOND * seconds;
  const share = counts.tokens / asked;
  const perSecond = (count) => count / seconds;
  return {
    load: { runs, viewers, seconds, "tokens per second of a run": TOKENS_PER_SECOND },
    "commit lag ms": commits,
    "token lag ms": lags.summary(),
    throughput: {
      "tokens per second": perSecond(counts.tokens),
      "share of what was due": share,
      "frames per second": perSecond(counts.frames),
      "runs ended": counts.runs,
    },
    lost: { missing: counts.missing, doubled: counts.doubled, returns: counts.returns },
    refused: { 429: counts.refused, failed: counts.failed, ...Object.fromEntries(failures) },
    "CPU, cores": cores,
    cost: {
      // Of runs as they came: one that gets half its tokens out is half a run.
      "CPU ms per run and second, service": (cores.service / (runs * share)) * 1_000,
      "CPU ms per run and second, postgres": (cores.postgres / (runs * share)) * 1_000,
      "CPU µs per frame, service": (cores.service / perSecond(counts.frames)) * 1e6,
    },
    ...used,
    samples,
    runs: seen.runs,
  };
}

async function keepRunning(subject, load, seen, { slot, startsAt, until }) {
  await pause(Math.max(0, startsAt - Date.now()));
  // Runs that began together would all end and start again in the same second.
  let share = 0.5 + slot / load.runs / 2;
  while (Date.now() < until) {
    const left = ((until - Date.now()) / 1_000) * TOKENS_PER_SECOND;
    const tokens = Math.max(
      LEAST_TOKENS,
      Math.round(Math.min(share * RUN_SECONDS * TOKENS_PER_SECOND, left)),
    );
    share = 1;
    try {
      await runOnce(subject, load, seen, tokens);
    } catch (error) {
      await pause(note(seen, error));
    }
  }
}

/** How long to wait before another try. */
function note({ counts, failures }, error) {
  if (error.status === 429) counts.refused++;
  else counts.failed++;
  if (error.status === 429) return waitOf(error);
  const words = String(error.code ?? error.message)
    .replace(/http:\S+/, "the service")
    .slice(0, 120);
  failures.set(words, (failures.get(words) ?? 0) + 1);
  return waitOf(error);
}

const waitOf = ({ retryAfter }) => (retryAfter === undefined ? RETRY_MS : Number(retryAfter) * 1_000);

async function runOnce(subject, load, seen, tokens) {
  const { viewers, comesBackEverySeconds, onRunStarted, keepsLags = false } = load;
  // Processes get connections in turn: else one of two would have all starts, and the other all second viewers.
  const anyTurn = async () => {
    if (Math.random() < 0.5) await subject.passTurn?.();
  };
  const { counts, lags, receipts, isMeasured } = seen;
  const run = await subject.createRun({
    tokens,
    firstMs: 0,
    paceMs: 1_000 / TOKENS_PER_SECOND,
    stamped: true,
  });
  const own = createRunNotes(run.id, keepsLags);
  const options = {
    tokens,
    again: run.view,
    onToken(lagMs, now) {
      if (!isMeasured(now)) return;
      own.token(lagMs);
      lags.add(lagMs);
      counts.tokens++;
    },
    onFrame(cursor, now) {
      if (!isMeasured(now)) return;
      counts.frames++;
      receipts.add(cursor, now);
    },
  };
  await anyTurn();
  const starter = startViewer(subject, { ...options, first: run.start });
  await starter.opened;
  onRunStarted?.(run.id);
  const others = [];
  for (let index = 1; index < viewers; index++) {
    await anyTurn();
    const other = startViewer(subject, {
      ...options,
      first: run.view(),
      ...(comesBackEverySeconds !== undefined && {
        comesBackEveryMs: comesBackEverySeconds * 1_000 + 37 * (index - 1),
      }),
    });
    others.push(other);
  }
  const ends = await Promise.allSettled([starter, ...others].map(({ over }) => over));
  seen.runs.push(own.summary(ends));
  counts.runs++;
  for (const { status, reason, value } of ends) {
    if (status === "rejected") note(seen, reason);
    else if (value.failure !== undefined) note(seen, new Error(value.failure));
    else {
      counts.missing += value.missing;
      counts.doubled += value.doubled;
      counts.returns += value.connections - 1;
    }
  }
}

/** One run's figures, to tell which runs were delayed. Each lag is kept only with `keepsLags`. */
function createRunNotes(id, keepsLags) {
  const startedAt = Date.now();
  const lags = [];
  return {
    token(lagMs) {
      if (keepsLags) lags.push(lagMs);
    },
    summary: (ends) => ({
      id,
      startedAt,
      endedAt: Date.now(),
      lags,
      longestPauseMs: Math.max(0, ...ends.map(({ value }) => value?.longestPauseMs ?? 0)),
    }),
  };
}
