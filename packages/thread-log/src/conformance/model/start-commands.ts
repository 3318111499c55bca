import type { GraphRunStart, Json } from "@throughline/ai-core";
import type { StartLook, StartResult, StartRun } from "../../registry/run-registry.js";
import { answerIds } from "../../registry/start-decision.js";
import { type ThreadRef, threadKey } from "../../thread-ref.js";
import { command, isBit, type Numbers, type Resolve } from "./model-command.js";
import { MODEL_LEASE, type ModelWorld, named, remember, threadAt } from "./model-world.js";
import type { Operation } from "./operation.js";

const STRATEGIES = ["reject", "enqueue", "enqueue", "preempt"] as const;

/** Ids of runs are not in the order of their arrival. */
function newRunId(world: ModelWorld): string {
  const n = world.nextNumber();
  return `${"qbzkf"[n % 5]}${n}`;
}

/** One per thread whose id is known before it comes, so that a stop can come first. */
export function unbornRun(world: ModelWorld, thread: ThreadRef): string {
  return `unborn-${world.threads.indexOf(thread)}`;
}

function startOf(world: ModelWorld, thread: ThreadRef, n: number): GraphRunStart {
  if (n % 3 !== 0) return { kind: "input", messages: [{ id: "m", role: "user", content: "hello" }] };
  const known = [...(world.state.interrupts.get(threadKey(thread))?.values() ?? [])];
  const asked = known.filter((_, index) => index === 0 || isBit(n, index + 2));
  const answer: Json = isBit(n, 5) ? "yes" : "no";
  return {
    kind: "resume",
    answers: Object.fromEntries(asked.map(({ interruptId }) => [interruptId, answer])),
  };
}

export function newStart(world: ModelWorld, [at, how, what, names]: Numbers): StartRun {
  const thread = threadAt(world, at);
  const alias = names % 2 === 0 ? `alias-${(names >> 1) % 4}` : undefined;
  const unborn = unbornRun(world, thread);
  const hasEnded = world.appends.some(({ append }) => append.finish?.runId === unborn);
  return {
    ...MODEL_LEASE,
    thread,
    stateKey: `chat/${what % 2}`,
    runId: names % 7 === 3 && !hasEnded ? unborn : newRunId(world),
    ...(alias === undefined ? {} : { alias }),
    graphId: "chat",
    origin: { kind: "client" },
    start: startOf(world, thread, what),
    request: { model: "m" },
    strategy: STRATEGIES[how % STRATEGIES.length] ?? "reject",
    listing: { threadName: thread.threadId, derivedTitle: names % 3 === 0 ? `title ${names}` : undefined },
  };
}

export function startOperation(world: ModelWorld, request: StartRun, look?: StartLook): Operation {
  return {
    text: `start ${request.runId} in ${named(request.thread)}, ${request.start.kind}, ${request.strategy}${look ? ", by a look" : ""}${request.isRetry ? ", again" : ""}`,
    perform: ({ registry }) => registry.start(request, look),
    learn(outcome) {
      world.starts.push(request);
      if (outcome.kind !== "answered") return;
      const result = outcome.answer as StartResult;
      if (result.kind === "started") remember(world, result);
    },
  };
}

const start: Resolve = (world, numbers) => startOperation(world, newStart(world, numbers));

/** The answer of a start was lost, or it is simply sent twice; not when its run has ended, and may be pruned by now. */
const startAgain: Resolve = (world, [n]) => {
  const request = world.starts.at(-1 - (n % 2));
  const hasEnded = world.appends.some(({ append }) => append.finish?.runId === request?.runId);
  return request && !hasEnded ? startOperation(world, { ...request, isRetry: true }) : undefined;
};

const look: Resolve = (world, numbers) => {
  const request = newStart(world, numbers);
  return {
    text: `look at ${named(request.thread)}`,
    perform: ({ registry }) => registry.look({ ...request, answers: answerIds(request.start) }),
    learn(outcome) {
      if (outcome.kind === "answered") world.looks.push({ request, look: outcome.answer as StartLook });
    },
  };
};

const startByLook: Resolve = (world) => {
  const known = world.looks.at(-1);
  return known && startOperation(world, known.request, known.look);
};

export const startCommands = [
  { weight: 9, arbitrary: command("start", start) },
  { weight: 2, arbitrary: command("startAgain", startAgain) },
  { weight: 2, arbitrary: command("look", look) },
  { weight: 2, arbitrary: command("startByLook", startByLook) },
];
