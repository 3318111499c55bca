/**
 * What the page's main thread does until `stop`, told by the browser's own trace: the CPU time of its longest task, in
 * milliseconds. The clock says how long a person waits, and how busy the machine is besides; this says what the page costs.
 *
 * @param {import("playwright-core").CDPSession} session
 */
export async function traceMainThread(session) {
  const events = [];
  session.on("Tracing.dataCollected", ({ value }) => events.push(...value));
  await session.send("Tracing.start", {
    transferMode: "ReportEvents",
    traceConfig: {
      includedCategories: ["devtools.timeline", "disabled-by-default-devtools.timeline"],
      recordMode: "recordAsMuchAsPossible",
    },
  });
  return {
    async stop() {
      const isWhole = new Promise((resolve) => session.once("Tracing.tracingComplete", resolve));
      await session.send("Tracing.end");
      await isWhole;
      const [longest] = tasksOfPage(events).toSorted((a, b) => b.tdur - a.tdur);
      return { longestCpuMs: longest.tdur / 1_000, longestParts: partsOf(longest, events) };
    },
  };
}

/** Of the renderers there are, the page's is the one that lays something out. */
function tasksOfPage(events) {
  const threadOf = ({ pid, tid }) => `${pid}:${tid}`;
  const layouts = new Map();
  for (const event of events) {
    if (event.name === "Layout") layouts.set(threadOf(event), (layouts.get(threadOf(event)) ?? 0) + 1);
  }
  const [page] = [...layouts].toSorted(([, a], [, b]) => b - a)[0] ?? [];
  const tasks = events.filter((event) => event.name === "RunTask" && event.tdur && threadOf(event) === page);
  if (tasks.length === 0) throw new Error("The browser's trace tells of no task of the page.");
  return tasks;
}

/** What a task did, by the browser's own names, in milliseconds of CPU, most expensive first. */
function partsOf(task, events) {
  const isWithin = (event) =>
    event.tid === task.tid && event.pid === task.pid && event.ts >= task.ts && event.ts < task.ts + task.dur;
  const inside = events
    .filter((event) => event !== task && event.tdur && event.name !== "RunTask" && isWithin(event))
    .toSorted((a, b) => a.ts - b.ts || b.dur - a.dur);
  const parts = new Map();
  let end = 0;
  for (const { name, ts, dur, tdur } of inside) {
    if (ts < end) continue;
    end = ts + dur;
    parts.set(name, (parts.get(name) ?? 0) + tdur / 1_000);
  }
  return [...parts].toSorted(([, a], [, b]) => b - a).slice(0, 3);
}
