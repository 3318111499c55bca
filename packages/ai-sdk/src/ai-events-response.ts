import { type AiEvent, aiEventSchema } from "@throughline/ai-core";
import {
  createUIMessageStream,
  createUIMessageStreamResponse,
  parseJsonEventStream,
  type UIMessageChunk,
} from "ai";

/** The AiEvents of `POST /runs`, from its answer. Throws at an event that is none. */
export async function* readAiEvents({ body }: Response): AsyncGenerator<AiEvent> {
  if (!body) return;
  for await (const parsed of parseJsonEventStream({ stream: body, schema: aiEventSchema })) {
    if (!parsed.success) throw parsed.error;
    yield parsed.value;
  }
}

/** A run's AiEvents as the AI SDK's UI message stream. Of a run that failed the stream ends with its error. */
export function uiMessageStreamOf(events: AsyncIterable<AiEvent>): ReadableStream<UIMessageChunk> {
  return createUIMessageStream({
    async execute({ writer }) {
      let texts = 0;
      let isTextOpen = false;
      const endText = () => {
        if (isTextOpen) writer.write({ type: "text-end", id: String(texts) });
        isTextOpen = false;
      };
      writer.write({ type: "start" });
      for await (const event of events) {
        if (event.type !== "text_delta") {
          endText();
          for (const chunk of chunksOf(event)) writer.write(chunk);
          continue;
        }
        if (!isTextOpen) {
          texts += 1;
          writer.write({ type: "text-start", id: String(texts) });
        }
        isTextOpen = true;
        writer.write({ type: "text-delta", id: String(texts), delta: event.delta });
      }
    },
    // Not the error's own words: they may carry a key, a prompt or a path.
    onError: () => "The answer broke off.",
  });
}

/** The same as an answer to `useChat`. */
export function aiEventsResponse(events: AsyncIterable<AiEvent>, init: ResponseInit = {}): Response {
  return createUIMessageStreamResponse({ ...init, stream: uiMessageStreamOf(events) });
}

function chunksOf(event: Exclude<AiEvent, { type: "text_delta" }>): UIMessageChunk[] {
  switch (event.type) {
    case "tool_call_start": {
      const { toolCallId, toolName, args: input } = event;
      return [{ type: "tool-input-available", toolCallId, toolName, input, dynamic: true }];
    }
    case "tool_call_result": {
      const { toolCallId, result, isError } = event;
      if (!isError) return [{ type: "tool-output-available", toolCallId, output: result, dynamic: true }];
      const errorText = typeof result === "string" ? result : JSON.stringify(result);
      return [{ type: "tool-output-error", toolCallId, errorText, dynamic: true }];
    }
    case "usage_report": {
      const { type: _, ...usage } = event;
      return [{ type: "message-metadata", messageMetadata: { usage } }];
    }
    // What was streamed is the text.
    case "assistant_final":
      return [];
    case "done":
      return [{ type: "finish", finishReason: "stop" }];
    case "error":
      return [{ type: "error", errorText: event.message }];
  }
}
