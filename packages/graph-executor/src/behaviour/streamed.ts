import type { StreamedMessage, UpstreamChunk } from "@throughline/ai-core";
import { read, readMessage, readNumber, readString } from "@throughline/coerce";

export interface StreamedPiece {
  readonly messageId: string;
  readonly text: string;
  readonly ns: readonly string[];
  readonly step: number;
}

/** What a model wrote, piece by piece, whichever backend streamed it. */
export function modelPieces(chunks: readonly UpstreamChunk[]): readonly StreamedPiece[] {
  return chunks.flatMap(({ mode, data, ns }) => {
    if (mode !== "messages" || !Array.isArray(data)) return [];
    const [message, metadata]: readonly unknown[] = data;
    const piece = readMessage(message);
    if (piece?.type !== "ai" || piece.id === undefined) return [];
    return [
      { messageId: piece.id, text: piece.text, ns, step: readNumber(metadata, "langgraph_step") ?? -1 },
    ];
  });
}

/** Each message once, with where it was streamed from. */
export function streamedMessages(chunks: readonly UpstreamChunk[]): readonly StreamedMessage[] {
  const byId = new Map(
    modelPieces(chunks).map(({ messageId, ns, step }) => [messageId, { messageId, ns, step }]),
  );
  return [...byId.values()];
}

export function streamedText(chunks: readonly UpstreamChunk[], messageId: string | undefined): string {
  return modelPieces(chunks)
    .filter((piece) => piece.messageId === messageId)
    .map((piece) => piece.text)
    .join("");
}

/** What a model wrote, put together from the tokens among events. */
export function eventText(chunks: readonly UpstreamChunk[], messageId?: string): string {
  return chunks
    .filter(({ mode, data }) => mode === "events" && readString(data, "event") === "on_chat_model_stream")
    .map(({ data }) => readMessage(read(read(data, "data"), "chunk")))
    .filter((piece) => piece?.id !== undefined && (messageId === undefined || piece.id === messageId))
    .map((piece) => piece?.text ?? "")
    .join("");
}

/** Calls of tools by name, as the `tools` mode tells their beginnings. */
export function startedTools(chunks: readonly UpstreamChunk[]): readonly string[] {
  return chunks.flatMap(({ mode, data }) =>
    mode === "tools" && readString(data, "event") === "on_tool_start" ? [readString(data, "name") ?? ""] : [],
  );
}

/** Names of nodes in the order in which the `tasks` mode tells that they begin. */
export function startedNodes(chunks: readonly UpstreamChunk[]): readonly string[] {
  return chunks.flatMap(({ mode, data }) =>
    mode === "tasks" && read(data, "triggers") !== undefined ? [readString(data, "name") ?? ""] : [],
  );
}
