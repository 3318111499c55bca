/** `1` in `worker:<id>|1` counts the subgraphs that one task runs; it is no task. */
const COUNTER_SEGMENT = /^\d+$/;

export interface TaskPath {
  /** Without counters: a task's identity. `""` is the run. */
  readonly path: string;
  readonly node: string;
  /** The namespace path of the task around it, counters included. */
  readonly parent: string;
  /** Counts the subgraph inside `parent` that the task belongs to; `""` is the first. */
  readonly lane: string;
  /** Counts the subgraph inside the task that the path itself names. */
  readonly within: string;
}

/** A namespace path such as `tools:<id>|1|think:<id>`, taken apart. */
export function readPath(raw: string): TaskPath {
  const segments = raw.split("|").filter((segment) => segment !== "");
  const within = takeCounters(segments);
  const last = segments.pop() ?? "";
  const lane = takeCounters(segments);
  const colon = last.lastIndexOf(":");
  return {
    path: [...segments.filter(isTask), last].join("|"),
    node: colon > 0 ? last.slice(0, colon) : last,
    parent: segments.join("|"),
    lane,
    within,
  };
}

const isTask = (segment: string) => !COUNTER_SEGMENT.test(segment);

function takeCounters(segments: string[]): string {
  let counters = "";
  while (segments.length > 0 && !isTask(segments.at(-1) ?? "")) {
    const counter = segments.pop() ?? "";
    counters = counters === "" ? counter : `${counter}|${counters}`;
  }
  return counters;
}
