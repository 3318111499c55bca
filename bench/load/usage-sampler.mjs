import { loadavg } from "node:os";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { slopeOf } from "./least-squares.mjs";
import { machineCpuSeconds, usageOf } from "./process-usage.mjs";

const EVERY_MS = 2_000;
const MIB = 1_048_576;

/**
 * Watches what a subject's processes use from now on. `stop` gives CPU in cores (seconds per second) by who used it, and how
 * the service's memory moved: its slope is that of the last two thirds, because a process first fills its caches.
 *
 * @param {import("./subject.mjs").Subject} subject
 */
export async function startSampling({ pids, eventLoopLagMs }) {
  const points = [];
  const delays = monitorEventLoopDelay({ resolution: 10 });
  const look = () => ({
    at: Date.now(),
    service: usageOf(pids.service),
    postgres: usageOf(pids.postgres),
    // Not by /proc, where the subject's processes are children of this one.
    client: process.cpuUsage(),
    machine: machineCpuSeconds(),
  });
  // What was asked for starts anew with the question.
  await eventLoopLagMs();
  const loadBefore = loadavg()[0];
  const first = look();
  delays.enable();
  const timer = setInterval(() => {
    const { at, service } = look();
    points.push({ x: (at - first.at) / 3_600_000, y: service.residentBytes / MIB });
  }, EVERY_MS);
  return {
    async stop() {
      clearInterval(timer);
      delays.disable();
      const last = look();
      const seconds = (last.at - first.at) / 1_000;
      const cores = (of) => (of(last) - of(first)) / seconds;
      const service = cores((seen) => seen.service.cpuSeconds);
      const postgres = cores((seen) => seen.postgres.cpuSeconds);
      const client = cores((seen) => (seen.client.user + seen.client.system) / 1e6);
      const late = points.slice(Math.floor(points.length / 3));
      return {
        seconds,
        cores: {
          service,
          postgres,
          client,
          others: Math.max(0, cores((seen) => seen.machine) - service - postgres - client),
        },
        memory: {
          "service MiB": last.service.residentBytes / MIB,
          "most MiB": Math.max(...points.map(({ y }) => y), 0),
          "slope MiB per hour": late.length < 3 ? undefined : slopeOf(late),
        },
        "event loop p99 ms": await eventLoopLagMs(),
        "client event loop p99 ms": delays.percentile(99) / 1e6,
        "load average": { before: loadBefore, after: loadavg()[0] },
        samples: points.map(({ x, y }) => [x * 3_600, y]),
      };
    },
  };
}
