import { setTimeout as delay } from "node:timers/promises";
import { shownMessages } from "../../e2e/server/follower.js";
import { type AnyMessage, messageLines, withoutId } from "../../e2e/server/stock/message-lines.js";
import { readEvents, type SseEvent } from "../../packages/langgraph-server/src/testing/sse-events.js";
import type { ThreadHistory, View } from "../check/history.js";
import { askUntilAnswered, type Requests } from "./chaos-http.js";
import { openStreamOf, type ThreadName, toFrames } from "./watch-thread.js";

interface ShownRun {
  readonly runId: string;
  readonly clientRunId: string | null;
  readonly status: string;
}

/** What `sentinel` writes down of a command. */
interface Applied {
  readonly command: string;
  readonly outcome: string;
  readonly note: string;
}

interface State {
  readonly messages: readonly AnyMessage[];
  readonly values: { readonly log?: readonly Applied[] };
}

const OPEN = new Set(["running", "queued"]);
const POLL_MS = 500;

/** Resolves with their statuses when these runs have ended; with what is known once `signal` is aborted. */
export async function untilEnded(
  requests: Requests,
  thread: ThreadName,
  { runIds, signal }: { readonly runIds: readonly string[]; readonly signal: AbortSignal },
): Promise<readonly string[]> {
  if (runIds.length === 0) return [];
  for (;;) {
    const runs = await readRuns(requests, thread, signal);
    const statuses = runIds.map(
      (id) => runs.find(({ clientRunId }) => clientRunId === id)?.status ?? "queued",
    );
    if (signal.aborted || statuses.every((status) => !OPEN.has(status))) return statuses;
    await delay(POLL_MS);
  }
}

async function readRuns(
  requests: Requests,
  { agent, threadId }: ThreadName,
  signal: AbortSignal,
): Promise<readonly ShownRun[]> {
  const answer = await askUntilAnswered<{ readonly runs: readonly ShownRun[] }>(
    () => requests.get(`/agents/${agent}/threads/${threadId}/runs`, { signal }),
    { signal },
  );
  return answer?.runs ?? [];
}

/** The thread's frames from its first entry on, as a fresh reader gets them. */
export async function readLog(
  requests: Requests,
  thread: ThreadName,
  view: View,
): Promise<readonly SseEvent[]> {
  const read = async (cursor?: string) => {
    const response = await openStreamOf(requests, thread, view, { follow: false, cursor });
    if (!response.ok) throw new Error(`${thread.threadId}: ${response.status} ${await response.text()}`);
    return readEvents(response);
  };
  const events = await read();
  if (view === "envelopes") return events;
  // Clients take a cursor as it is; only here one is made up, to stand before the first entry.
  const id = events.findLast((event) => event.id !== undefined)?.id ?? "";
  const [epoch, , , face] = id.split(".");
  return read(`${epoch}.0.0.${face}`);
}

/** What the service says of a thread when all is calm; what people and viewers hold of it is the caller's to add. */
export async function readThread(
  requests: Requests,
  thread: ThreadName,
): Promise<Pick<ThreadHistory, "log" | "shown" | "held" | "mutations">> {
  // A connect may make log and checkpoint agree, so it comes first.
  const frames = await readLog(requests, thread, "ag-ui");
  const envelopes = await readLog(requests, thread, "envelopes");
  const response = await requests.get(`/agents/${thread.agent}/threads/${thread.threadId}/state`);
  if (!response.ok) throw new Error(`${thread.threadId}: state ${response.status} ${await response.text()}`);
  // A parsed boundary: the route's own schema.
  const state = (await response.json()) as State;
  return {
    log: { envelopes: toFrames(envelopes), "ag-ui": toFrames(frames) },
    shown: (await shownMessages(frames)).map(withoutId),
    held: messageLines(state.messages).map(withoutId),
    mutations: { accepted: [], applied: thread.agent === "sentinel" ? appliedIn(state) : [] },
  };
}

function appliedIn({ values: { log = [] } }: State): readonly string[] {
  return log.map(({ command, outcome, note }) => `${command} ${outcome}: ${note}`);
}
