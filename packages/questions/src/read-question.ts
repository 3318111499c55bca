import type { Json, JsonObject } from "@throughline/ai-core";
import { readAction } from "./kinds/action.js";
import { readAgentInbox } from "./kinds/agent-inbox.js";
import { readAgUiApproval, readApproval } from "./kinds/approval.js";
import { readApprovals } from "./kinds/approvals.js";
import { readAskUser } from "./kinds/ask-user.js";
import { readCopilotKit } from "./kinds/copilotkit.js";
import { readDraft } from "./kinds/draft.js";
import { readElicitation } from "./kinds/elicitation.js";
import { readFieldsForm, readSchemaForm } from "./kinds/form.js";
import { readOptions } from "./kinds/options.js";
import { readOther } from "./kinds/other.js";
import { readYesNo } from "./kinds/yes-no.js";
import { objectAt, textAt } from "./plain.js";
import type { Question } from "./question.js";
import type { InterruptSource } from "./question-source.js";

export interface InterruptHints {
  /** AG-UI's reason, where it was sent with the interrupt and not inside its value. */
  readonly reason?: string | undefined;
  /** AG-UI's id of the call that the interrupt is about, likewise. */
  readonly toolCallId?: string | undefined;
}

/** The readers of all kinds; the first that recognizes the value wins. Kinds with a name precede those guessed from fields. */
const READERS: readonly ((source: InterruptSource) => Question | undefined)[] = [
  readApprovals,
  readApproval,
  readAgentInbox,
  readElicitation,
  readAskUser,
  readCopilotKit,
  readFieldsForm,
  readAgUiApproval,
  readOptions,
  readYesNo,
  readSchemaForm,
  readDraft,
  readAction,
];

/** Parses the value that a graph passed to `interrupt()`, and the schema of the response next to it. Never throws. */
export function readInterruptRequest(
  value: Json,
  schema?: JsonObject | undefined,
  { reason, toolCallId }: InterruptHints = {},
): Question {
  const source: InterruptSource = {
    value,
    schema: schema ?? objectAt(value, "responseSchema", "response_schema"),
    reason: reason ?? textAt(value, "reason"),
    toolCallId,
  };
  for (const read of READERS) {
    const interrupt = read(source);
    if (interrupt) return interrupt;
  }
  return readOther(source);
}
