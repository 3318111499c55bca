import {
  type ExecutorType,
  type GraphExecutorPort,
  type GraphStatePort,
  ThroughlineError,
} from "@throughline/ai-core";
import type { GraphProvider } from "../provider/graph-provider.js";
import { createProviderTable, type ProviderTable } from "./provider-table.js";

/** UNIFIED_EXECUTION_PORT (docs/requirements.md#server-2): one port over every provider; a graph id says which of them runs it. */
export function createAggregatingGraphExecutor(
  providers: readonly GraphProvider[],
): GraphExecutorPort & GraphStatePort {
  const table = createProviderTable(providers);
  return {
    executorType: executorTypeOf(table),
    runGraph(request) {
      try {
        return table.of(request.graphId).runGraph(request);
      } catch (error) {
        const known =
          error instanceof ThroughlineError
            ? error
            : new ThroughlineError("internal", "The run could not be started.", { cause: error });
        return {
          stream: nothing(),
          final: Promise.resolve({ ok: false, status: "error", error: known, interrupts: [] }),
        };
      }
    },
    getState: async (thread, checkpointId) => table.of(thread.graphId).getState(thread, checkpointId),
    history: async (thread, page) => table.of(thread.graphId).history(thread, page),
    updateState: async (thread, update, fence) => table.of(thread.graphId).updateState(thread, update, fence),
    committedMessages: async (thread, messages) =>
      table.of(thread.graphId).committedMessages(thread, messages),
    copyThread: async (from, checkpointId, to, fence) =>
      table.of(from.graphId).copyThread(from, checkpointId, to, fence),
    deleteThread: async (thread, fence) => table.of(thread.graphId).deleteThread(thread, fence),
  };
}

/** Billing asks the run's own facts; this is only what the aggregate answers for as a whole. */
function executorTypeOf({ providers }: ProviderTable): ExecutorType {
  return providers[0]?.executorType ?? "inproc";
}

async function* nothing(): AsyncGenerator<never> {}
