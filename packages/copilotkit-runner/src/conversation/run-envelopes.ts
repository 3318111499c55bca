import type { Clock, Envelope, EnvelopeBase, LogEntry, PayloadOf } from "@throughline/ai-core";
import { type AgUiEvent, isEvent } from "../events/ag-ui-event.js";

/** Names the custom entries of the log that hold an AG-UI event as its agent emitted it. */
const AG_UI_ENTRY = "ag-ui";

export interface RunEnvelopesOptions {
  readonly clock: Clock;
  /** The log's own ids of thread and run. */
  readonly threadId: string;
  readonly runId: string;
  readonly attempt: number;
  readonly agentId: string;
}

/** Makes the entries of one run: its start, its events, its end. */
export interface RunEnvelopes {
  start(clientRunId: string): Envelope;
  event(event: AgUiEvent): Envelope;
  end(payload: PayloadOf<"run_end">): Envelope;
}

export function createRunEnvelopes(options: RunEnvelopesOptions): RunEnvelopes {
  const { clock, threadId, runId, attempt, agentId } = options;
  let seq = 0;

  function base(): EnvelopeBase {
    seq += 1;
    return {
      ts: clock.now() / 1_000,
      trace_id: runId,
      run_id: runId,
      thread_id: threadId,
      attempt,
      parent_id: null,
      call_id: runId,
      seq,
      origin: "live",
      agent: agentId,
    };
  }

  return {
    start: (clientRunId) => ({
      ...base(),
      type: "run_start",
      payload: {
        graph_id: agentId,
        client_run_id: clientRunId,
        // What people said is in the run's RUN_STARTED event, as AG-UI has it.
        input: { messages: [] },
        answers: [],
        started_by: { kind: "client" },
      },
    }),
    event: (event) => ({ ...base(), type: "custom", payload: { name: AG_UI_ENTRY, value: event } }),
    end: (payload) => ({ ...base(), type: "run_end", payload }),
  };
}

/** The AG-UI event that an entry holds; the entries around a run hold none. */
export function eventOf({ envelope }: LogEntry): AgUiEvent | undefined {
  if (envelope.type !== "custom" || envelope.payload.name !== AG_UI_ENTRY) return undefined;
  const { value } = envelope.payload;
  return isEvent(value) ? value : undefined;
}
