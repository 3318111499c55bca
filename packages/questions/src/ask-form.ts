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

/** A question as AG-UI asks it, for clients that know nothing of LangChain. */
export interface AskForm {
  readonly reason: string;
  readonly message: string;
  /** What `adaptAnswer` understands; absent where any text will do. */
  readonly responseSchema: JsonObject | undefined;
  readonly toolCallId: string | undefined;
}

export function askForm(question: Question): AskForm {
  const own = textAt(question.value, "reason");
  return {
    reason: own ?? reasonOf(question),
    message: question.message,
    responseSchema: schemaOf(question),
    toolCallId: textAt(question.value, "toolCallId", "tool_call_id"),
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

function schemaOf(question: Question): JsonObject | undefined {
  switch (question.kind) {
    case "approvals":
      return approvalsSchema(question);
    case "approval":
      return approvalAskSchema(question);
    case "agent_inbox":
      return agentInboxSchema(question);
    case "elicitation":
      return elicitationSchema(question);
    case "ask_user":
      return askUserSchema(question);
    case "form":
      return formSchema(question);
    case "options":
      return optionsSchema(question);
    case "yes_no":
      return yesNoSchema(question);
    case "draft":
      return question.schema ?? { type: "string", default: question.draft };
    case "action":
    case "copilotkit":
    case "breakpoint":
    case "other":
      return question.schema;
  }
}
