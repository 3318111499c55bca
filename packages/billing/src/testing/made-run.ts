import type { MeteredRun } from "../meter/metered-fetch.js";

/** For tests: a run of an account, which has a key of its own name. */
export function madeRun(account: string, fields: Partial<MeteredRun> = {}): MeteredRun {
  return {
    runId: `run-of-${account}`,
    attempt: 0,
    threadId: "thread-1",
    graphId: "langgraph:poet",
    ingressRequestId: "req-1",
    caller: { billingAccountId: account, subject: "ann", virtualKeyId: `vk-${account}`, traceId: "trace-1" },
    executorType: "inproc",
    ...fields,
  };
}
