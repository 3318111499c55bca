import type { Json } from "@throughline/ai-core";
import { dismissAgentInbox } from "./kinds/agent-inbox.js";
import { dismissApproval } from "./kinds/approval.js";
import { dismissApprovals } from "./kinds/approvals.js";
import { dismissAskUser } from "./kinds/ask-user.js";
import { dismissElicitation } from "./kinds/elicitation.js";
import { dismissForm } from "./kinds/form.js";
import type { Question } from "./question.js";

/** The response that dismisses an interrupt in the interrupt's own form; `undefined` where that has none. */
export function dismissResponse(interrupt: Question): Json | undefined {
  switch (interrupt.kind) {
    case "approvals":
      return dismissApprovals(interrupt);
    case "approval":
      return dismissApproval(interrupt);
    case "agent_inbox":
      return dismissAgentInbox(interrupt);
    case "elicitation":
      return dismissElicitation(interrupt);
    case "ask_user":
      return dismissAskUser(interrupt);
    case "form":
      return dismissForm(interrupt);
    case "options":
    case "yes_no":
    case "draft":
    case "action":
    case "copilotkit":
    case "breakpoint":
    case "other":
      return undefined;
  }
}
