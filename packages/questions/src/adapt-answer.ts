import type { Json } from "@throughline/ai-core";
import { adaptAction } from "./kinds/action.js";
import { adaptAgentInbox } from "./kinds/agent-inbox.js";
import { adaptApproval } from "./kinds/approval.js";
import { adaptApprovals } from "./kinds/approvals.js";
import { adaptAskUser } from "./kinds/ask-user.js";
import { adaptElicitation } from "./kinds/elicitation.js";
import { adaptForm } from "./kinds/form.js";
import { isObject } from "./plain.js";
import type { Question } from "./question.js";

/**
 * Converts an interrupt response to the form that the graph expects. A client may send the graph's own form, that of the
 * other dialect, or the one in the schema of `toAgUiForm`. A response in none of these forms is returned unchanged.
 */
export function adaptResponse(interrupt: Question, given: Json): Json {
  const response = typeof given === "string" && takesNoText(interrupt) ? parsed(given) : given;
  switch (interrupt.kind) {
    case "approvals":
      return adaptApprovals(interrupt, response);
    case "approval":
      return adaptApproval(interrupt, response);
    case "agent_inbox":
      return adaptAgentInbox(interrupt, response);
    case "elicitation":
      return adaptElicitation(interrupt, response);
    case "ask_user":
      return adaptAskUser(interrupt, response);
    case "form":
      return adaptForm(interrupt, response);
    case "action":
      return isObject(response) ? adaptAction(interrupt, response) : response;
    case "yes_no":
      return response === true ? interrupt.yes : response === false ? interrupt.no : response;
    case "options":
    case "draft":
    case "copilotkit":
    case "breakpoint":
    case "other":
      return response;
  }
}

/** Whether a text must be JSON: clients of the legacy form send every response as text. */
function takesNoText({ kind, schema }: Question): boolean {
  switch (kind) {
    case "approvals":
    case "approval":
    case "agent_inbox":
    case "elicitation":
    case "ask_user":
    case "action":
      return true;
    default:
      return schema !== undefined && typeof schema.type === "string" && schema.type !== "string";
  }
}

function parsed(text: string): Json {
  try {
    const value: Json = JSON.parse(text);
    return value;
  } catch {
    return text;
  }
}
