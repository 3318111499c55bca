import type { Json } from "@throughline/ai-core";
import { dismissAgentInbox } from "./kinds/agent-inbox.js";
import { dismissApproval } from "./kinds/approval.js";
import { dismissApprovals } from "./kinds/approvals.js";
import { dismissAskUser } from "./kinds/ask-user.js";
import { dismissElicitation } from "./kinds/elicitation.js";
import { dismissForm } from "./kinds/form.js";
import type { Question } from "./question.js";

/** The answer that says "I won't answer" in the question's own words; `undefined` where it has none. */
export function dismissAnswer(question: Question): Json | undefined {
  switch (question.kind) {
    case "approvals":
      return dismissApprovals(question);
    case "approval":
      return dismissApproval(question);
    case "agent_inbox":
      return dismissAgentInbox(question);
    case "elicitation":
      return dismissElicitation(question);
    case "ask_user":
      return dismissAskUser(question);
    case "form":
      return dismissForm(question);
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
