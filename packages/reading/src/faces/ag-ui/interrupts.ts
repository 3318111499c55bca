import type { Interrupt, JsonObject } from "@throughline/ai-core";
import { readString } from "@throughline/coerce";
import { askForm, readQuestion } from "@throughline/questions";
import type { AgUiEvent, AgUiInterrupt, InterruptForm } from "./event.js";

/**
 * The standard form: everything a client needs to ask the person without knowing what kind of question it is. The graph's own
 * value, and its own schema where it gave one, are kept whole in metadata.
 */
export function toAgUiInterrupt(interrupt: Interrupt): AgUiInterrupt {
  const { interrupt_id: id, value, response_schema, node } = interrupt;
  const { reason, message, responseSchema, toolCallId } = askForm(readQuestion(value, response_schema));
  const expiresAt = readString(value, "expiresAt") ?? readString(value, "expires_at");
  return {
    id,
    reason,
    message,
    ...(toolCallId !== undefined && { toolCallId }),
    ...(responseSchema !== undefined && { responseSchema }),
    ...(expiresAt !== undefined && { expiresAt }),
    metadata: { throughline: { node }, langgraph: { raw: value, ...schemaOf(interrupt) } },
  };
}

/** The legacy form: a custom event whose value is JSON text, or the text itself when the graph asked with a plain string. */
export function legacyInterrupt(interrupt: Interrupt): AgUiEvent {
  const { value, interrupt_id: interruptId, node } = interrupt;
  return {
    type: "CUSTOM",
    name: "on_interrupt",
    value: typeof value === "string" ? value : JSON.stringify(value),
    metadata: { throughline: { interruptId, node, ...schemaOf(interrupt) } },
  };
}

function schemaOf({ response_schema }: Interrupt): JsonObject {
  return response_schema === undefined ? {} : { responseSchema: response_schema };
}

export function announces(form: InterruptForm): { readonly legacy: boolean; readonly standard: boolean } {
  return { legacy: form !== "standard", standard: form !== "legacy" };
}
