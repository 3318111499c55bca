import { type Caller, deriveThreadId, toGraphId, toStateKey } from "@throughline/ai-core";
import type { RunRecord, ThreadRef } from "@throughline/thread-log";

/** A thread as the inside of the server knows it. Made from a caller and two names, never from an id a client sent. */
export interface ThreadAddress {
  readonly ref: ThreadRef;
  readonly graphId: string;
  /** What clients call it; AG-UI's `threadId`. */
  readonly threadName: string;
  readonly stateKey: string;
}

/** Of a run's thread. */
export function addressOf(
  { thread, graphId }: Pick<RunRecord, "thread" | "graphId">,
  stateKey: string,
): ThreadAddress {
  return { ref: thread, graphId, threadName: stateKey.slice(stateKey.indexOf("/") + 1), stateKey };
}

/** Throws `invalid_input` for a name no thread can have. */
export function threadAddress(
  caller: Pick<Caller, "billingAccountId" | "subject">,
  graphName: string,
  threadName: string,
): ThreadAddress {
  const { billingAccountId: account, subject } = caller;
  const scope = { account, ...(subject !== undefined && { subject }) };
  const threadId = deriveThreadId({ ...scope, graphName, threadName });
  return {
    ref: { ...scope, threadId },
    graphId: toGraphId(graphName),
    threadName: threadName.normalize("NFC"),
    stateKey: toStateKey(graphName, threadName),
  };
}
