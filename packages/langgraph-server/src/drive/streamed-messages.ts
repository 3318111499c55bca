import type { LogEntry, StreamedMessage } from "@throughline/ai-core";

/** R27: what a run showed so far, and where each message came from, which is what decides whether a checkpoint holds it. */
export function streamedMessages(entries: readonly LogEntry[]): readonly StreamedMessage[] {
  const steps = new Map<string, number>();
  const reached = new Map<string, number>();
  const shown = new Map<string, StreamedMessage>();

  function show(messageId: string, path: string | null, runId: string, step: number | null): void {
    const inTask = path !== null && path !== runId;
    shown.set(messageId, {
      messageId,
      ns: inTask ? path.split("|") : [],
      // No checkpoint reaches a step that is not known, so only the task's own result can vouch for such a message.
      step: step ?? (inTask ? steps.get(path) : undefined) ?? Number.MAX_SAFE_INTEGER,
    });
  }

  for (const { envelope } of entries) {
    switch (envelope.type) {
      case "subgraph_checkpoint":
        if (envelope.payload.step !== null) reached.set(envelope.call_id, envelope.payload.step);
        break;
      case "step_start": {
        const step = envelope.payload.step ?? stepAfter(reached.get(envelope.parent_id ?? ""));
        if (step !== undefined) steps.set(envelope.call_id, step);
        break;
      }
      case "llm_start":
        show(envelope.payload.message_id, envelope.parent_id, envelope.run_id, envelope.payload.step);
        break;
      case "tool_end":
        if (envelope.payload.kind === "tool" && envelope.payload.message_id !== undefined) {
          show(envelope.payload.message_id, envelope.parent_id, envelope.run_id, null);
        }
        break;
      case "state_snapshot":
        // No step is known of them: withdrawn, and shown again by the first state that holds them.
        for (const { message } of envelope.payload.changed_messages ?? [])
          show(message.id, null, envelope.run_id, null);
        break;
      case "retract":
        for (const messageId of envelope.payload.message_ids) shown.delete(messageId);
        break;
    }
  }
  return [...shown.values()];
}

/** LangGraph tells no step when a task begins, but a graph stores each of its steps before the next one begins. */
function stepAfter(checkpoint: number | undefined): number | undefined {
  return checkpoint === undefined ? undefined : checkpoint + 1;
}
