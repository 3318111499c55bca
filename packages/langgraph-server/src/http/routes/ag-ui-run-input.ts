import { type ContextItem, type FrontendTool, type Json, ThroughlineError } from "@throughline/ai-core";
import type { AgUiVersion, InterruptForm } from "@throughline/reading";
import type { RunInput } from "../../threads/run-spec.js";
import { parseInput } from "../request.js";
import { type AgUiMessage, countParts, toMessages } from "./ag-ui-input.js";
import { type RunAgentInput, runAgentInputSchema } from "./ag-ui-schema.js";

/** Parses a request. Throws `invalid_input` naming the field, or `too_large`. */
export function parseRunAgentInput(body: Json | undefined, maxContentParts: number): RunAgentInput {
  const input = parseInput(runAgentInputSchema, body ?? {}, "body");
  refuseManyParts(input.messages ?? [], maxContentParts);
  return input;
}

/** Checks the number of content parts. Throws `too_large`. */
export function refuseManyParts(messages: readonly AgUiMessage[], maxContentParts: number): void {
  if (countParts(messages) <= maxContentParts) return;
  throw new ThroughlineError(
    "too_large",
    `messages: hold more than ${maxContentParts} content parts, the most a request may have. Send fewer.`,
    { details: { field: "messages", limit: "maxContentParts", max: maxContentParts } },
  );
}

/** Returns the encoder options: R15's interrupt form, and the client's protocol version. 1.0 sends it, 0.0.59 does not. */
export function faceOf(
  input: RunAgentInput,
  address: string,
): {
  readonly line: AgUiVersion;
  readonly interrupts: InterruptForm;
  readonly calls: boolean;
  /** The base URL of attachment links. A client that asks for calls is one of our own and resolves attachments itself. */
  readonly fileBaseUrl: string | undefined;
} {
  const line = Number.parseInt(input.protocolVersion ?? "0", 10) >= 1 ? "1.0" : "0.0";
  const { interrupts, calls = false, links = !calls } = input.forwardedProps?.throughline ?? {};
  return {
    line,
    interrupts: interrupts ?? (line === "1.0" ? "standard" : "legacy"),
    calls,
    fileBaseUrl: links ? address : undefined,
  };
}

/** Converts a request to the graph's input. Resumes are accepted in either form, independent of the interrupt's form (R15). */
export function runInputOf(input: RunAgentInput): RunInput {
  const answers = input.resume ?? [];
  if (answers.length > 0) return { kind: "resume", answers: answersOf(answers) };
  const legacy = input.forwardedProps?.command;
  if (legacy?.resume !== undefined) {
    return legacy.interruptId === undefined
      ? { kind: "answer", value: legacy.resume }
      : { kind: "resume", answers: Object.fromEntries([[legacy.interruptId, legacy.resume]]) };
  }
  const messages = toMessages(input.messages ?? []);
  const fork = input.forwardedProps?.throughline?.fork;
  if (fork) return { kind: "fork", checkpointId: fork.checkpointId, messages };
  const state = input.state ?? {};
  return { kind: "input", messages, ...(Object.keys(state).length > 0 && { state }) };
}

function answersOf(entries: NonNullable<RunAgentInput["resume"]>): Readonly<Record<string, Json>> {
  const answers = new Map<string, Json>();
  for (const { interruptId, status, payload } of entries) {
    if (answers.has(interruptId)) {
      throw new ThroughlineError("invalid_input", `resume: answers ${interruptId} twice`, {
        details: { field: "resume" },
      });
    }
    // The value by which graphs written for AG-UI recognize a dismissed interrupt.
    const dismissed = { __agui_cancelled__: true, interrupt_id: interruptId };
    answers.set(interruptId, status === "cancelled" ? dismissed : (payload ?? null));
  }
  return Object.fromEntries(answers);
}

export function toolsOf(input: RunAgentInput): FrontendTool[] {
  return (input.tools ?? []).map(({ name, description, parameters }) => ({
    name,
    description: description ?? "",
    ...(parameters && { parameters }),
  }));
}

export function contextOf(input: RunAgentInput): ContextItem[] {
  return (input.context ?? []).map(({ description, value }) => ({ description, value }));
}
