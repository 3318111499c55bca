import type { ActionQuestion } from "./kinds/action.js";
import type { AgentInboxQuestion } from "./kinds/agent-inbox.js";
import type { ApprovalQuestion } from "./kinds/approval.js";
import type { ApprovalsQuestion } from "./kinds/approvals.js";
import type { AskUserQuestion } from "./kinds/ask-user.js";
import type { BreakpointQuestion } from "./kinds/breakpoint.js";
import type { CopilotKitQuestion } from "./kinds/copilotkit.js";
import type { DraftQuestion } from "./kinds/draft.js";
import type { ElicitationQuestion } from "./kinds/elicitation.js";
import type { FormQuestion } from "./kinds/form.js";
import type { OptionsQuestion } from "./kinds/options.js";
import type { OtherQuestion } from "./kinds/other.js";
import type { YesNoQuestion } from "./kinds/yes-no.js";

/** An interrupt, understood: one of the kinds that graphs send, discriminated by `kind`. */
export type Question =
  | ApprovalsQuestion
  | ApprovalQuestion
  | AgentInboxQuestion
  | ElicitationQuestion
  | AskUserQuestion
  | FormQuestion
  | OptionsQuestion
  | YesNoQuestion
  | DraftQuestion
  | ActionQuestion
  | CopilotKitQuestion
  | BreakpointQuestion
  | OtherQuestion;
