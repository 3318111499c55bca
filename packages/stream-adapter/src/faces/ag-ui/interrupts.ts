import type { Interrupt, JsonObject } from "@throughline/ai-core";
import { isJsonObject, readString } from "@throughline/coerce";
import type { AgUiEvent, AgUiInterrupt, InterruptForm } from "./event.js";

/** The standard form: what a client needs to ask the person, the graph's own value kept whole in metadata. */
export function toAgUiInterrupt(interrupt: Interrupt): AgUiInterrupt {
  const { interrupt_id: id, value, node } = interrupt;
  const message = typeof value === "string" ? value : readString(value, "message");
  const toolCallId = readString(value, "toolCallId") ?? readString(value, "tool_call_id");
  const schema = isJsonObject(value) ? (value.responseSchema ?? value.response_schema) : undefined;
  const expiresAt = readString(value, "expiresAt") ?? readString(value, "expires_at");
  return {
    id,
    reason: readString(value, "reason") ?? "langgraph:interrupt",
    ...(message !== undefined && { message }),
    ...(toolCallId !== undefined && { toolCallId }),
    ...(isJsonObject(schema) && { responseSchema: schema as JsonObject }),
    ...(expiresAt !== undefined && { expiresAt }),
    metadata: { throughline: { node }, langgraph: { raw: value } },
  };
}

/** The legacy form: a custom event whose value is JSON text, or the text itself when the graph asked with a plain string. */
export function legacyInterrupt(interrupt: Interrupt): AgUiEvent {
  const { value } = interrupt;
  return {
    type: "CUSTOM",
    name: "on_interrupt",
    value: typeof value === "string" ? value : JSON.stringify(value),
    metadata: { throughline: { interruptId: interrupt.interrupt_id, node: interrupt.node } },
  };
}

export function announces(form: InterruptForm): { readonly legacy: boolean; readonly standard: boolean } {
  return { legacy: form !== "standard", standard: form !== "legacy" };
}
