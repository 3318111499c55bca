import { isDeepStrictEqual } from "node:util";
import { readEvents } from "../../../packages/langgraph-server/src/testing/sse-events.js";
import { shownMessages } from "../../server/follower.js";
import { conversationDifferences, messageLines, withoutId } from "../../server/stock/message-lines.js";
import { firstDifference } from "./frames-law.js";
import type { RunRow } from "./outage-stage.js";
import { comparableState, type ShownState } from "./researcher-thread.js";
import type { Viewer } from "./viewer.js";
import { viewersOf, type WatchedRun } from "./watched-run.js";

export interface Expected {
  readonly status: "success" | "cancelled";
  /** Of `undisturbedState()`. A run that was stopped has none to be compared with. */
  readonly state?: unknown;
  /** No viewer's stream may have ended before the run. */
  readonly keepsStreams?: boolean;
  /** The database afterwards is another one (R19). */
  readonly mayRenewEpoch?: boolean;
  /** An instance that shuts down may say so to its viewers. */
  readonly mayShutDown?: boolean;
}

/** Of a problem's words: frames and messages may be long. */
const LONGEST = 600;

/** All that is wrong with a run that has ended, and with what its viewers were told, in words. */
export async function findProblems(
  run: WatchedRun,
  rows: readonly RunRow[],
  expected: Expected,
): Promise<readonly string[]> {
  const { thread, home, away } = run;
  const row = rows.find(({ alias }) => alias === thread.runId);
  const log = await thread.readLog(away.ask);
  const state = await thread.state(away.ask);
  const problems = [...rowProblems(row, expected)];
  const attached = firstDifference([await readEvents(await thread.run(home.ask))], log);
  if (attached !== undefined)
    problems.push(`a reader that joins the run by its id is not told all of it: ${attached}`);
  for (const { ask } of [home, away]) {
    const { status } = await thread.shownRun(ask);
    if (status !== expected.status) problems.push(`GET runs says ${status}`);
  }
  if (expected.state !== undefined && !isDeepStrictEqual(comparableState(state), expected.state)) {
    problems.push("its state is not that of an undisturbed run");
  }
  for (const viewer of viewersOf(run)) {
    const difference = firstDifference(viewer.connections, log, expected);
    if (difference !== undefined) problems.push(`a viewer's frames are not the log: ${difference}`);
    problems.push(...(await viewerProblems(viewer, state, expected)));
  }
  return problems.map((problem) => `${thread.threadId}: ${problem.slice(0, LONGEST)}`);
}

function rowProblems(row: RunRow | undefined, { status }: Expected): readonly string[] {
  if (!row) return ["has no row"];
  const problems = row.status === status ? [] : [`its row says ${row.status}`];
  return row.crashes ? [...problems, `${row.crashes} crashes were counted`] : problems;
}

async function viewerProblems(
  { connections, reconnects }: Viewer,
  { messages }: ShownState,
  { status, keepsStreams, mayShutDown }: Expected,
): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const { data } of connections.flat()) {
    if (data.type !== "RUN_ERROR" || (mayShutDown && data.code === "shutting_down")) continue;
    problems.push(`a viewer was told RUN_ERROR ${data.code}: ${data.message}`);
  }
  if (keepsStreams && reconnects() > 0) problems.push(`a viewer had to reconnect ${reconnects()} times`);
  // A tool that had answered when its run was stopped is no part of a checkpoint yet.
  const comparable = (lines: readonly string[]) => (status === "cancelled" ? lines.map(withoutId) : lines);
  const differences = conversationDifferences(
    comparable(await shownMessages(...connections)),
    comparable(messageLines(messages)),
  );
  problems.push(...differences.map((words) => `a stock client ${words}`));
  return problems;
}
