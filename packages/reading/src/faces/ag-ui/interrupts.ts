import type { Interrupt, Json, JsonObject } from "@throughline/ai-core";
import { read, readString } from "@throughline/coerce";
import { readInterruptRequest, toAgUiForm } from "@throughline/questions";
import type { AgUiEvent, AgUiInterrupt, InterruptForm } from "./event.js";

/**
 * Encodes an interrupt in the standard form: everything a client needs to show it without knowing the interrupt's
 * kind. The graph's own value, and its own schema where it gave one, are complete in metadata.
 */
export function toAgUiInterrupt(interrupt: Interrupt): AgUiInterrupt {
  const { interrupt_id: id, value, response_schema, node } = interrupt;
  const { reason, message, responseSchema, toolCallId } = toAgUiForm(
    readInterruptRequest(value, response_schema),
  );
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

/** Encodes an interrupt in the legacy form: a custom event with JSON text, or the text itself for a plain string. */
export function legacyInterrupt(interrupt: Interrupt): AgUiEvent {
  const { value, interrupt_id: interruptId, node } = interrupt;
  return {
    type: "CUSTOM",
    name: "on_interrupt",
    value: typeof value === "string" ? value : JSON.stringify(value),
    metadata: { throughline: { interruptId, node, ...schemaOf(interrupt) } },
  };
}

/**
 * Encodes a run's interrupt responses in the fields of AG-UI's run input: `resume`, and for clients of `on_interrupt`
 * `forwardedProps.command.resume`, as text. Several are there an object by interrupt id. `undefined` without responses.
 */
export function resumeOf(
  given: Readonly<Record<string, Json>> = {},
  form: ReturnType<typeof announces>,
): JsonObject | undefined {
  const answers = Object.entries(given);
  const [first] = answers;
  if (!first) return undefined;
  const resume = answers.length === 1 ? first[1] : { ...given };
  const text = typeof resume === "string" ? resume : JSON.stringify(resume);
  return {
    ...(form.legacy && { forwardedProps: { command: { resume: text } } }),
    ...(form.standard && {
      resume: answers.map(([interruptId, payload]) =>
        isDismissal(payload)
          ? { interruptId, status: "cancelled" }
          : { interruptId, status: "resolved", payload },
      ),
    }),
  };
}

/** Whether a payload is the mark with which the service resumes a graph for a dismissed interrupt. */
function isDismissal(payload: Json): boolean {
  return read(payload, "__agui_cancelled__") === true;
}

function schemaOf({ response_schema }: Interrupt): JsonObject {
  return response_schema === undefined ? {} : { responseSchema: response_schema };
}

export function announces(form: InterruptForm): { readonly legacy: boolean; readonly standard: boolean } {
  return { legacy: form !== "standard", standard: form !== "legacy" };
}
