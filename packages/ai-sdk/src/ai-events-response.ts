import { type AiEvent, aiEventSchema } from "@throughline/ai-core";
import {
  createUIMessageStream,
  createUIMessageStreamResponse,
  parseJsonEventStream,
  type UIMessageChunk,
} from "ai";

/** Reads the AiEvents of `POST /runs` from its response. Throws at an invalid event. */
export async function* readAiEvents({ body }: Response): AsyncGenerator<AiEvent> {
  if (!body) return;
  for await (const parsed of parseJsonEventStream({ stream: body, schema: aiEventSchema })) {
    if (!parsed.success) throw parsed.error;
    yield parsed.value;
  }
}

/** Converts a run's AiEvents to the AI SDK's UI message stream. The stream of a failed run ends with its error. */
export function uiMessageStreamOf(events: AsyncIterable<AiEvent>): ReadableStream<UIMessageChunk> {
  return createUIMessageStream({
    async execute({ writer }) {
      const texts = createTextParts((chunk) => writer.write(chunk));
      writer.write({ type: "start" });
      for await (const event of events) {
        if (event.type === "text_delta") {
          texts.add(event.delta);
          continue;
        }
        texts.end();
        if (event.type === "assistant_final") texts.reconcile(event.content);
        else if (event.type === "tool_call_start" || event.type === "tool_call_result") texts.keep();
        for (const chunk of chunksOf(event)) writer.write(chunk);
      }
    },
    // Not the error's own message: it may carry a key, a prompt or a path.
    onError: () => "The answer broke off.",
  });
}

/** Creates the response to `useChat` with a run's AiEvents. */
export function aiEventsResponse(events: AsyncIterable<AiEvent>, init: ResponseInit = {}): Response {
  return createUIMessageStreamResponse({ ...init, stream: uiMessageStreamOf(events) });
}

/** Text parts of the reply, made of deltas, which are provisional. */
interface TextParts {
  add(delta: string): void;
  end(): void;
  /** Confirms the parts so far: only parts after the last tool call are compared with the final text. */
  keep(): void;
  /**
   * Writes the final text as a part of its own where no part has it. Streams can't remove a part: the provisional parts are
   * listed in `data-retracted`, as in the service's own stream.
   */
  reconcile(final: string): void;
}

function createTextParts(write: (chunk: UIMessageChunk) => void): TextParts {
  const parts: { readonly id: string; text: string; provisional: boolean }[] = [];
  let isOpen = false;

  function add(delta: string): void {
    if (!isOpen) {
      const id = String(parts.length + 1);
      parts.push({ id, text: "", provisional: true });
      write({ type: "text-start", id, providerMetadata: { throughline: { messageId: id } } });
      isOpen = true;
    }
    const part = parts.at(-1);
    if (!part) return;
    part.text += delta;
    write({ type: "text-delta", id: part.id, delta });
  }

  function end(): void {
    const part = parts.at(-1);
    if (isOpen && part) write({ type: "text-end", id: part.id });
    isOpen = false;
  }

  return {
    add,
    end,
    keep() {
      for (const part of parts) part.provisional = false;
    },
    reconcile(final) {
      if (final !== "" && parts.some(({ text }) => text.endsWith(final))) return;
      const messageIds = parts.filter(({ provisional }) => provisional).map(({ id }) => id);
      if (messageIds.length > 0) write({ type: "data-retracted", data: { messageIds } });
      if (final !== "") add(final);
      end();
    },
  };
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
    case "assistant_final":
      return [];
    case "done": {
      const { status, interrupts = [] } = event;
      const questions = interrupts.map(
        ({ interruptId: id, value, responseSchema }): UIMessageChunk => ({
          type: "data-question",
          id,
          data: { id, value, ...(responseSchema !== undefined && { responseSchema }), status: "open" },
        }),
      );
      return [...questions, { type: "finish", finishReason: status === "interrupted" ? "other" : "stop" }];
    }
    case "error":
      return [{ type: "error", errorText: event.message }];
  }
}
