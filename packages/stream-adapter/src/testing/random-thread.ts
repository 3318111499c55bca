import type { Envelope, GraphFinal, LogEntry, Message, PayloadOf } from "@throughline/ai-core";
import {
  applyEnvelope,
  emptyThreadProjection,
  isConversation,
  type ThreadProjection,
} from "@throughline/reading";
import fc from "fast-check";
import { createStreamAdapter } from "../stream-adapter.js";
import { type RandomRun, randomRun } from "./random-run.js";
import { toEntries } from "./recording.js";

interface RunOfThread {
  readonly run: RandomRun;
  /** How its first attempt ends: by itself, in a crash after which it is recovered, or in a crash for good. */
  readonly fate: "ends" | "recovered" | "lost";
  /** Where the crash comes, as a share of what it writes. */
  readonly crashAt: number;
  /** What is committed of what the first attempt showed, as a share. */
  readonly committed: number;
}

/** The log of a thread: several runs one after the other, some recovered, some lost. */
export const randomThread: fc.Arbitrary<readonly LogEntry[]> = fc
  .array(
    fc.record({
      run: randomRun,
      fate: fc.constantFrom<RunOfThread["fate"][]>("ends", "ends", "recovered", "lost"),
      crashAt: fc.double({ min: 0, max: 1, noNaN: true }),
      committed: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
    { minLength: 2, maxLength: 4, size: "max" },
  )
  .map((runs) => toEntries(runs.reduce(addRun, { fold: emptyThreadProjection, envelopes: [] }).envelopes));

interface Written {
  readonly fold: ThreadProjection;
  readonly envelopes: readonly Envelope[];
}

function addRun(
  before: Written,
  { run: anyRun, fate, crashAt, committed }: RunOfThread,
  index: number,
): Written {
  const run = renamed(anyRun, index);
  const runId = `run-${index}`;
  const said: Message = { id: `user-${index}`, role: "user", content: "go" };
  const first = attempt(before.fold, runId, 0, run, said);
  if (fate === "ends") return write(before, first);
  const cut = first.slice(0, 1 + Math.floor(crashAt * (first.length - 2)));
  const broken = write(before, cut);
  if (fate === "lost") return broken;
  const shown = broken.fold.messages.filter(({ run_id, id }) => run_id === runId && id !== said.id);
  const kept = shown
    .slice(0, Math.floor(committed * shown.length))
    .filter((message) => message.role !== "tool");
  const withdrawn = shown.filter((message) => !kept.includes(message)).map(({ id }) => id);
  const again = attempt(
    { ...broken.fold, messages: broken.fold.messages.filter(({ id }) => !withdrawn.includes(id)) },
    runId,
    1,
    // Where a message with its calls stays, the model asks anew, by other calls.
    kept.length > 0 ? renamedCalls(run.again) : run.again,
    said,
    withdrawn,
  );
  return write(broken, again);
}

function write({ fold, envelopes }: Written, more: readonly Envelope[]): Written {
  return { fold: more.reduce(applyEnvelope, fold), envelopes: [...envelopes, ...more] };
}

function attempt(
  fold: ThreadProjection,
  runId: string,
  number: number,
  run: Omit<RandomRun, "again">,
  said: Message,
  withdrawn: readonly string[] = [],
): Envelope[] {
  const translator = createStreamAdapter({
    context: { runId, threadId: "thread", traceId: "trace", attempt: number, agent: "graph" },
    dialect: "modes",
    profile: "user",
    fold,
  });
  const start: PayloadOf<"run_start"> = {
    graph_id: "langgraph:graph",
    input: { messages: [said] },
    answers: fold.interrupts.slice(0, 1).map(({ interrupt_id }) => interrupt_id),
    started_by: { kind: "client" },
  };
  const envelopes = translator.start(start, 0);
  const [started] = envelopes;
  if (started && number > 0) {
    const payload = { message_ids: [...withdrawn], call_ids: [], reason: "recovered" };
    envelopes.push({ ...started, type: "retract", payload, call_id: `${runId}/retract`, seq: 1 });
  }
  run.chunks.forEach((chunk, at) => {
    const now = run.times[at] ?? 0;
    for (let due = translator.nextFlushAt(); due !== undefined && due <= now; due = translator.nextFlushAt())
      envelopes.push(...translator.flush(due));
    envelopes.push(...translator.push(chunk, now));
  });
  const reached = envelopes.reduce(applyEnvelope, fold);
  return [...envelopes, ...translator.finish(finalOf(fold, run.final, said), reached, 1e6)];
}

/** The checkpoint holds what earlier runs left. */
function finalOf(fold: ThreadProjection, final: GraphFinal, said: Message): GraphFinal {
  const earlier = fold.messages.filter((message) => isConversation(message) && message.id !== said.id);
  const own = (final.messages ?? []).filter(({ role }) => role !== "user");
  return { ...final, messages: [...earlier.map(plain), said, ...own.filter(isNew(earlier))] };
}

const isNew = (earlier: readonly Message[]) => (message: Message) =>
  earlier.every(({ id }) => id !== message.id);

function plain({ id, role, content, tool_calls, tool_call_id }: Message): Message {
  return {
    id,
    role,
    content,
    ...(tool_calls && { tool_calls }),
    ...(tool_call_id !== undefined && { tool_call_id }),
  };
}

function renamedCalls(run: RandomRun["again"]): RandomRun["again"] {
  return JSON.parse(JSON.stringify(run).replace(/\bcall-/g, "call-again-")) as RandomRun["again"];
}

/** Ids are unique in a thread. */
function renamed(run: RandomRun, index: number): RandomRun {
  const text = JSON.stringify(run).replace(
    /\b(message|again|task|call|checkpoint|interrupt|ask)-(\d+)/g,
    (_, kind, id) => `${kind}-${index}x${id}`,
  );
  return JSON.parse(text) as RandomRun;
}
