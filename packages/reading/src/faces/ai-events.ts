import type { AiEvent, ExecutorType, LogEntry, PayloadOf } from "@throughline/ai-core";
import { continuedMessage } from "../fold/fold.js";
import { isConversation, type ThreadProjection } from "../fold/thread-fold.js";
import { contentText, wordsOf } from "./media-words.js";

export interface AiEventsEncoderOptions {
  readonly executorType: ExecutorType;
}

/** Encodes log entries as AiEvents, seed of every service contract: `text_delta* → usage_report → done`. Pure and restartable. */
export interface AiEventsEncoder {
  events(before: ThreadProjection, entry: LogEntry): AiEvent[];
}

export function createAiEventsEncoder({ executorType }: AiEventsEncoderOptions): AiEventsEncoder {
  return {
    events(before, { envelope }) {
      switch (envelope.type) {
        case "llm_token": {
          const open = continuedMessage(before, envelope);
          const text = wordsOf(envelope.payload);
          return open && open.subagent_id === null && text !== undefined
            ? [{ type: "text_delta", delta: text }]
            : [];
        }
        case "tool_start": {
          const { kind, tool_name: toolName, args, subagent_id } = envelope.payload;
          if (kind === "subgraph" || subagent_id !== undefined) return [];
          return [{ type: "tool_call_start", toolCallId: envelope.call_id, toolName, args: args ?? {} }];
        }
        case "tool_end": {
          const { kind, tool_name: toolName, result, status, subagent_id } = envelope.payload;
          // In logs from before `subagent_id` the open step has the subagent.
          const step = before.openSteps.find(({ call_id }) => call_id === envelope.parent_id);
          const inSubagent = subagent_id !== undefined || (step !== undefined && step.subagent_id !== null);
          if (kind === "subgraph" || inSubagent) return [];
          return [
            {
              type: "tool_call_result",
              toolCallId: envelope.call_id,
              toolName,
              result,
              isError: status === "error",
            },
          ];
        }
        case "usage": {
          const { complete, calls = [], model_calls } = envelope.payload;
          const [only] = model_calls === 1 ? calls : [];
          return [
            {
              type: "usage_report",
              usageUnitId: only?.usage_unit_id ?? null,
              ...used(envelope.payload),
              ...(complete !== undefined && { complete }),
              executorType,
              ...(calls.length > 0 && {
                calls: calls.map((call) => ({ usageUnitId: call.usage_unit_id, ...used(call) })),
              }),
            },
          ];
        }
        case "run_end": {
          const { status, error } = envelope.payload;
          if (status === "error") {
            return [
              {
                type: "error",
                ok: false,
                code: error?.code ?? "run_failed",
                message: error?.message ?? "The run failed.",
              },
            ];
          }
          if (status === "cancelled")
            return [{ type: "error", ok: false, code: "cancelled", message: "The run was stopped." }];
          return [{ type: "assistant_final", content: finalText(before) }, done(before, status)];
        }
        default:
          return [];
      }
    },
  };
}

type Used = Pick<PayloadOf<"usage">, "model" | "input_tokens" | "output_tokens" | "cost_usd">;

function used({ model, input_tokens, output_tokens, cost_usd }: Used) {
  return { model, inputTokens: input_tokens, outputTokens: output_tokens, costUsd: cost_usd };
}

/** The run's own last text, empty where it wrote none: an earlier run's text is not this run's. */
function finalText({ messages, run }: ThreadProjection): string {
  const last = messages.findLast(
    (message) => message.role === "assistant" && isConversation(message) && message.run_id === run?.run_id,
  );
  return contentText(last?.content ?? "");
}

function done({ interrupts }: ThreadProjection, status: "success" | "interrupted"): AiEvent {
  if (status === "success") return { type: "done" };
  return {
    type: "done",
    status,
    interrupts: interrupts.map(({ interrupt_id, value, response_schema }) => ({
      interruptId: interrupt_id,
      value,
      ...(response_schema && { responseSchema: response_schema }),
    })),
  };
}
