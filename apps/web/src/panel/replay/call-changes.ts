import type { CallView } from "@throughline/agent-client";
import type { Envelope } from "@throughline/ai-core";

type Known = ReadonlyMap<string, CallView>;

/** Which pieces of work an entry begins, changes or ends: the same tree that a live page is told. */
export function callChanges(known: Known, envelope: Envelope): readonly CallView[] {
  switch (envelope.type) {
    case "run_start": {
      const { graph_id, started_by } = envelope.payload;
      const lost = [...known.values()]
        .filter(({ status, kind }) => status === "running" && kind !== "run")
        .map((call): CallView => ({ ...call, status: "lost", endedAt: envelope.ts }));
      const { kind, id } = started_by;
      const startedBy = { kind, ...(id !== undefined && { id }) };
      return [...lost, { ...begun(envelope), kind: "run", name: graph_id, startedBy }];
    }
    case "run_end": {
      const { status } = envelope.payload;
      return [...known.values()]
        .filter((call) => call.status === "running")
        .map(
          (call): CallView => ({
            ...call,
            status: status === "success" ? "ok" : status,
            endedAt: envelope.ts,
          }),
        );
    }
    case "step_start":
      return [{ ...begun(envelope), kind: "node", name: envelope.payload.node }];
    case "llm_start": {
      const { synthetic, model, message_id } = envelope.payload;
      if (synthetic) return [];
      return [{ ...begun(envelope), kind: "model", name: model ?? "model", messageId: message_id }];
    }
    case "tool_start": {
      const { kind, tool_name, args, tool_call_id } = envelope.payload;
      const node = kind === "subgraph" ? known.get(envelope.call_id) : undefined;
      return [
        {
          ...(node ?? begun(envelope)),
          kind,
          name: tool_name,
          ...(args !== undefined && { args }),
          ...(tool_call_id !== undefined && { toolCallId: tool_call_id }),
        },
      ];
    }
    case "error": {
      const { message, class: kind, node } = envelope.payload;
      return changed(known, envelope, { error: { message, class: kind, node } });
    }
    case "tool_update":
      return changed(known, envelope, { progress: envelope.payload.data });
    case "tool_end":
      return changed(known, envelope, { ...ended(envelope), result: envelope.payload.result });
    case "step_end":
      return changed(known, envelope, ended(envelope));
    case "llm_end": {
      const { usage, model } = envelope.payload;
      return changed(known, envelope, {
        ...ended(envelope),
        ...(usage && { usage }),
        ...(model !== null && { name: model }),
      });
    }
    default:
      return [];
  }
}

function begun({ run_id, call_id, parent_id, attempt, ts }: Envelope) {
  return {
    runId: run_id,
    callId: call_id,
    parentId: parent_id,
    attempt,
    startedAt: ts,
    endedAt: null,
    status: "running" as const,
  };
}

function ended(
  envelope: Envelope & { readonly payload: { readonly status: CallView["status"] } },
): Partial<CallView> {
  return { status: envelope.payload.status, endedAt: envelope.ts };
}

function changed(known: Known, { call_id }: Envelope, change: Partial<CallView>): readonly CallView[] {
  const call = known.get(call_id);
  return call ? [{ ...call, ...change }] : [];
}
