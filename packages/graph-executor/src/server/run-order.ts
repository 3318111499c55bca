import type { Client } from "@langchain/langgraph-sdk";
import {
  type FreshRunStart,
  type GraphRunRequest,
  type GraphStatePort,
  type Json,
  type JsonObject,
  type Message,
  ThroughlineError,
} from "@throughline/ai-core";
import { toPlain } from "@throughline/coerce";
import { frontendOf, givenContext, runConfigurable } from "../inproc/run-config.js";
import { toGraphMessage } from "../messages/to-graph-message.js";
import type { RunOrder, RunStart } from "./create-run.js";
import { moveBeforeQuestions } from "./move-before-questions.js";
import { ensureThread, graphNameOf, moveHead } from "./server-thread.js";

/** Where the metadata of an upstream run says in whose name it runs; the graphs' model factory reads it there. */
const IDENTITY_KEY = "throughline_identity";

/** What begins a run; `go_on` takes the thread up where it stands. */
export type OrderStart = FreshRunStart | { readonly kind: "go_on" };

/** Turns requests into what the upstream is asked to run, and makes the thread ready for it. */
export function createOrders(client: Client, states: GraphStatePort) {
  async function toRunStart(request: GraphRunRequest, start: OrderStart): Promise<RunStart> {
    switch (start.kind) {
      case "input":
        await ensureThread(client, request.threadId, graphNameOf(request.graphId));
        return { input: graphInput(request, start) };
      case "resume":
        return resume(request, start.answers);
      case "fork":
        await requireCheckpoint(request, start.checkpointId);
        await moveHead(client, request.threadId, start.checkpointId);
        return { input: start.messages.length > 0 ? graphInput(request, start) : null };
      case "go_on":
        return { input: null };
    }
  }

  /** An id that is not open is refused here: LangGraph would take the whole map for one answer to some question. */
  async function resume(
    request: GraphRunRequest,
    answers: Readonly<Record<string, Json>>,
  ): Promise<RunStart> {
    const ids = Object.keys(answers);
    if (ids.length === 0 && (await moveBeforeQuestions(client, request.threadId))) return { input: null };
    const { interrupts = [], next = [] } = (await states.getState(request)) ?? {};
    if (ids.length === 0 && interrupts.length === 0 && next.length > 0) return { input: null };
    const unknown = ids.find((id) => !interrupts.some((interrupt) => interrupt.interrupt_id === id));
    if (unknown === undefined && ids.length > 0) return { resume: answers };
    throw new ThroughlineError("conflict", "The question that was answered is no longer open.", {
      details: unknown === undefined ? {} : { interruptId: unknown },
    });
  }

  async function requireCheckpoint(request: GraphRunRequest, checkpointId: string): Promise<void> {
    if (await states.getState(request, checkpointId)) return;
    throw new ThroughlineError("not_found", "The checkpoint to run from does not exist in this thread.", {
      details: { checkpointId },
    });
  }

  return async (request: GraphRunRequest, start: OrderStart): Promise<RunOrder> => ({
    runId: request.runId,
    attempt: request.attempt,
    threadId: request.threadId,
    graphName: graphNameOf(request.graphId),
    start: await toRunStart(request, start),
    dialect: request.dialect ?? "modes",
    config: request.config ?? {},
    context: givenContext(request),
    ...identified(runConfigurable(request, {})),
  });
}

/**
 * Who pays for a run and what identifies it go to the server as the run's own metadata. What is in `configurable` stays with the
 * thread and becomes part of every later run there, a foreign one's too, whose model calls would then be our caller's. These
 * fields are null there, so that what earlier versions left is overwritten.
 */
function identified(configurable: JsonObject): Pick<RunOrder, "configurable" | "metadata"> {
  const { runId, attempt, billingAccountId, virtualKeyId, ingressRequestId, traceId } = configurable;
  const identity = {
    runId,
    attempt,
    billingAccountId,
    virtualKeyId,
    ingressRequestId,
    traceId,
    executorType: "langgraph_server",
  };
  const blanks = Object.fromEntries(Object.keys(identity).map((name) => [name, null]));
  return {
    configurable: { ...configurable, ...blanks },
    metadata: { [IDENTITY_KEY]: toPlain(identity) },
  };
}

/**
 * Messages and state as one input. R26: LangGraph itself applies only keys of the graph's input schema. R30: so the
 * frontend's tools and context can be offered to every graph under the names that AG-UI's and CopilotKit's graphs know;
 * asking the server for the schema first may take it ten seconds.
 */
function graphInput(
  request: GraphRunRequest,
  { messages, state = {} }: { readonly messages: readonly Message[]; readonly state?: JsonObject },
): JsonObject {
  const { messages: _, ...clientState } = state;
  const frontend = frontendOf(request);
  return {
    ...clientState,
    "ag-ui": frontend,
    copilotkit: { actions: frontend.tools ?? [], context: frontend.context ?? [] },
    ...(messages.length > 0 && { messages: messages.map(toGraphMessage) }),
  };
}
