import type { Json, JsonObject } from "@throughline/ai-core";

/** Names the message of the thread that a part belongs to: one reply of a chat holds all messages of its runs. */
export interface Tag {
  readonly providerMetadata: { readonly throughline: { readonly messageId: string } };
}

interface OfTool {
  readonly toolCallId: string;
  /** The graph's tools are not known when the page is compiled. */
  readonly dynamic: true;
}

/** The chunks of the AI SDK's UI message stream, version 1 of its wire, that the encoder writes, and no others. */
export type UiMessageChunk =
  | { readonly type: "start"; readonly messageId: string; readonly messageMetadata: JsonObject }
  | { readonly type: "start-step" }
  | { readonly type: "finish-step" }
  | ({ readonly type: "text-start"; readonly id: string } & Tag)
  | { readonly type: "text-delta"; readonly id: string; readonly delta: string }
  | { readonly type: "text-end"; readonly id: string }
  | ({ readonly type: "reasoning-start"; readonly id: string } & Tag)
  | { readonly type: "reasoning-delta"; readonly id: string; readonly delta: string }
  | { readonly type: "reasoning-end"; readonly id: string }
  | ({ readonly type: "file"; readonly url: string; readonly mediaType: string } & Tag)
  | ({ readonly type: "tool-input-start"; readonly toolName: string } & OfTool & Tag)
  | { readonly type: "tool-input-delta"; readonly toolCallId: string; readonly inputTextDelta: string }
  | ({ readonly type: "tool-input-available"; readonly toolName: string; readonly input: Json } & OfTool &
      Tag)
  | ({ readonly type: "tool-output-available"; readonly output: Json } & OfTool)
  | ({ readonly type: "tool-output-error"; readonly errorText: string } & OfTool)
  /** An interrupt in AG-UI's standard form, and its `status`: `open`, or `answered` once a run responds to it. */
  | { readonly type: "data-question"; readonly id: string; readonly data: JsonObject }
  /** Retracts the parts before it that belong to these messages. */
  | { readonly type: "data-retracted"; readonly data: { readonly messageIds: string[] } }
  | { readonly type: "data-state"; readonly data: JsonObject; readonly transient: true }
  | { readonly type: "data-state-delta"; readonly data: readonly JsonObject[]; readonly transient: true }
  | { readonly type: "data-custom"; readonly data: { name: string; value: Json }; readonly transient: true }
  | { readonly type: "message-metadata"; readonly messageMetadata: JsonObject }
  | { readonly type: "finish"; readonly finishReason: "stop" | "other"; readonly messageMetadata: JsonObject }
  | { readonly type: "abort"; readonly reason: string }
  | { readonly type: "error"; readonly errorText: string };
