import type { Clock, Timer } from "@throughline/ai-core";
import { addMetrics, type MetricData } from "../../operations/metrics.js";
import type { FromProcess, ToProcess } from "./process-message.js";

/** A process that serves, as the one that started it sees it. */
export interface MeasuredProcess {
  isConnected(): boolean;
  send(message: ToProcess): unknown;
}

type MetricsMessage = Extract<FromProcess, { kind: "render_metrics" | "metrics" }>;

interface Gathering {
  readonly missing: Set<MeasuredProcess>;
  readonly gathered: (readonly MetricData[])[];
  readonly timer: Timer;
  finish(): void;
}

/** A process that is busy for longer is left out, and counted again the next time. */
const PATIENCE_MS = 1_000;

/** A request for `/metrics` reaches one process; it is answered with those of all. */
export function createMetricsGatherer({
  clock,
  processes,
}: {
  readonly clock: Clock;
  readonly processes: () => readonly MeasuredProcess[];
}) {
  const gatherings = new Map<number, Gathering>();
  let lastId = 0;

  function gather(asker: MeasuredProcess, askedId: number): void {
    lastId += 1;
    const id = lastId;
    const all = processes().filter((one) => one.isConnected());
    const gathering: Gathering = {
      missing: new Set(all),
      gathered: [],
      timer: clock.schedule(PATIENCE_MS, () => gathering.finish()),
      finish() {
        gathering.timer.cancel();
        gatherings.delete(id);
        addMetrics(gathering.gathered).then(
          (text) => answer(asker, askedId, text),
          () => answer(asker, askedId, undefined),
        );
      },
    };
    gatherings.set(id, gathering);
    for (const one of all) one.send({ kind: "collect_metrics", id });
  }

  function answer(asker: MeasuredProcess, id: number, text: string | undefined): void {
    if (asker.isConnected()) asker.send({ kind: "rendered_metrics", id, text });
  }

  function without(gathering: Gathering, process: MeasuredProcess): void {
    if (gathering.missing.delete(process) && gathering.missing.size === 0) gathering.finish();
  }

  return {
    heard(process: MeasuredProcess, message: MetricsMessage): void {
      if (message.kind === "render_metrics") {
        gather(process, message.id);
        return;
      }
      const gathering = gatherings.get(message.id);
      if (!gathering?.missing.has(process)) return;
      gathering.gathered.push(message.metrics);
      without(gathering, process);
    },
    left(process: MeasuredProcess): void {
      for (const gathering of gatherings.values()) without(gathering, process);
    },
  };
}
