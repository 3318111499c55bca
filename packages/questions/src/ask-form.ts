import type { JsonObject } from "@throughline/ai-core";
import { agentInboxSchema } from "./kinds/agent-inbox.js";
import { approvalAskSchema } from "./kinds/approval.js";
import { approvalsSchema } from "./kinds/approvals.js";
import { askUserSchema } from "./kinds/ask-user.js";
import { elicitationSchema } from "./kinds/elicitation.js";
import { formSchema } from "./kinds/form.js";
import { optionsSchema } from "./kinds/options.js";
import { yesNoSchema } from "./kinds/yes-no.js";
import { textAt } from "./plain.js";
import type { Question } from "./question.js";

/** An interrupt in AG-UI's form, for clients that know nothing of LangChain. */
export interface AgUiForm {
  readonly reason: string;
  readonly message: string;
  /** The schema of the responses that `adaptAnswer` understands; absent where any text is accepted. */
  readonly responseSchema: JsonObject | undefined;
  readonly toolCallId: string | undefined;
}

export function toAgUiForm(interrupt: Question): AgUiForm {
  const own = textAt(interrupt.value, "reason");
  return {
    reason: own ?? reasonOf(interrupt),
    message: interrupt.message,
    responseSchema: schemaOf(interrupt),
    toolCallId: textAt(interrupt.value, "toolCallId", "tool_call_id"),
  };
}

function reasonOf({ kind }: Question): string {
  switch (kind) {
    case "approvals":
    case "approval":
    case "agent_inbox":
    case "action":
      return "tool_call";
    case "yes_no":
      return "confirmation";
    case "elicitation":
    case "ask_user":
    case "form":
    case "options":
    case "draft":
    case "copilotkit":
      return "input_required";
    case "breakpoint":
    case "other":
      return "langgraph:interrupt";
  }
}

function schemaOf(interrupt: Question): JsonObject | undefined {
  switch (interrupt.kind) {
    case "approvals":
      return approvalsSchema(interrupt);
    case "approval":
      return approvalAskSchema(interrupt);
    case "agent_inbox":
      return agentInboxSchema(interrupt);
    case "elicitation":
      return elicitationSchema(interrupt);
    case "ask_user":
      return askUserSchema(interrupt);
    case "form":
      return formSchema(interrupt);
    case "options":
      return optionsSchema(interrupt);
    case "yes_no":
      return yesNoSchema(interrupt);
    case "draft":
      return interrupt.schema ?? { type: "string", default: interrupt.draft };
    case "action":
    case "copilotkit":
    case "breakpoint":
    case "other":
      return interrupt.schema;
  }
}
