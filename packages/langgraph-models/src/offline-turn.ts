import { createHash } from "node:crypto";
import {
  AIMessage,
  AIMessageChunk,
  type BaseMessage,
  HumanMessage,
  ToolMessage,
} from "@langchain/core/messages";

/** One streamed step of a turn. `block` numbers the content blocks, `call` the tool calls of the message. */
export type OfflineDelta =
  | { readonly kind: "text" | "reasoning"; readonly block: number; readonly text: string }
  | { readonly kind: "callStart"; readonly call: number; readonly id: string; readonly name: string }
  | { readonly kind: "callArgs"; readonly call: number; readonly text: string };

export interface OfflineTurn {
  readonly messageId: string;
  readonly deltas: readonly OfflineDelta[];
  readonly finishReason: "stop" | "tool_calls";
  readonly hasReasoning: boolean;
  readonly usage: {
    readonly promptTokens: number;
    readonly answerTokens: number;
    readonly reasoningTokens: number;
  };
}

/**
 * Lays out the parts of a script as deltas with ids. Ids are hashes of the whole prompt and of `callSite`: a replay of
 * the same call gives the same ids, while a thread that grew, or a twin node, gives new ones.
 */
export function layOutTurn(
  prompt: OfflinePrompt,
  parts: readonly OfflinePart[],
  callSite: string,
): OfflineTurn {
  const promptText = prompt.messages.map(describeMessage).join("\n");
  const fingerprint = hash(`${callSite}\n${prompt.tools.join(",")}\n${promptText}`);
  const deltas: OfflineDelta[] = [];
  let answerTokens = 0;
  let reasoningTokens = 0;
  let calls = 0;
  for (const [block, part] of parts.entries()) {
    if (part.kind === "toolCall") {
      const call = calls++;
      deltas.push({ kind: "callStart", call, id: `call_${hash(`${fingerprint}#${call}`)}`, name: part.name });
      const args = JSON.stringify(part.args);
      // The u flag splits between code points, so no piece ends in half a character.
      for (const text of args.match(/.{1,12}/gsu) ?? []) deltas.push({ kind: "callArgs", call, text });
      answerTokens += countTokens(args);
    } else {
      for (const text of words(part.text)) deltas.push({ kind: part.kind, block, text });
      answerTokens += countTokens(part.text);
      if (part.kind === "reasoning") reasoningTokens += countTokens(part.text);
    }
  }
  return {
    messageId: `msg_${fingerprint}`,
    deltas,
    finishReason: calls > 0 ? "tool_calls" : "stop",
    hasReasoning: parts.some((part) => part.kind === "reasoning"),
    usage: { promptTokens: countTokens(promptText), answerTokens, reasoningTokens },
  };
}

/** The stated rule of offline usage: a token is a run of characters without white space. */
function countTokens(text: string): number {
  return text.match(/\S+/g)?.length ?? 0;
}

export function toOfflinePrompt(messages: readonly BaseMessage[], tools: readonly string[]): OfflinePrompt {
  return {
    messages,
    tools,
    lastUserText: messages.findLast((message) => HumanMessage.isInstance(message))?.text ?? "",
  };
}

/** Words with the white space before them, so that joining the pieces gives the text back. */
function words(text: string): readonly string[] {
  return text.match(/\s*\S+|\s+$/g) ?? [];
}

/** Leaves message ids out: a human message has a random one, and the answer must not depend on it. */
function describeMessage(message: BaseMessage): string {
  const calls =
    AIMessage.isInstance(message) || AIMessageChunk.isInstance(message) ? message.tool_calls : undefined;
  const answered = ToolMessage.isInstance(message) ? message.tool_call_id : "";
  return [message.type, answered, message.text, calls?.length ? JSON.stringify(calls) : ""]
    .filter(Boolean)
    .join(" ");
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 24);
}

/** One piece of an offline answer. A turn is a list of them, streamed in order. */
export type OfflinePart =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "reasoning"; readonly text: string }
  /** Several calls in a row stream as parallel calls of one message, each with its own index. */
  | { readonly kind: "toolCall"; readonly name: string; readonly args: Readonly<Record<string, unknown>> };

export interface OfflinePrompt {
  readonly messages: readonly BaseMessage[];
  /** Names of the tools bound to this call; empty when none are. */
  readonly tools: readonly string[];
  /** Text of the newest human message, or "". */
  readonly lastUserText: string;
}

/** Writes the offline model's reply to a prompt. Pure: the same prompt always gives the same turn. */
export type OfflineScript = (prompt: OfflinePrompt) => readonly OfflinePart[];

/** The attachments of the newest human message as text: name, type and size of each file that arrived with its bytes. */
export function describeAttachments(messages: readonly BaseMessage[]): string {
  const newest = messages.findLast((message) => HumanMessage.isInstance(message));
  if (!newest || typeof newest.content === "string") return "";
  return newest.content.flatMap((block) => describeBlock(block)).join(", ");
}

function describeBlock(block: { readonly [key: string]: unknown }): readonly string[] {
  const { source_type: source, mime_type: type, data, metadata } = block;
  if (source !== "base64" || typeof data !== "string") return [];
  const name =
    typeof metadata === "object" && metadata !== null && "filename" in metadata
      ? metadata.filename
      : "a file";
  return [`${String(name)} (${String(type)}, ${Buffer.from(data, "base64").length} bytes)`];
}
