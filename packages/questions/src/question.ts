import type { ActionRequest } from "./kinds/action.js";
import type { AgentInboxRequest } from "./kinds/agent-inbox.js";
import type { ApprovalRequest } from "./kinds/approval.js";
import type { ToolApprovalsRequest } from "./kinds/approvals.js";
import type { AskUserRequest } from "./kinds/ask-user.js";
import type { BreakpointRequest } from "./kinds/breakpoint.js";
import type { CopilotKitRequest } from "./kinds/copilotkit.js";
import type { DraftRequest } from "./kinds/draft.js";
import type { ElicitationRequest } from "./kinds/elicitation.js";
import type { FormRequest } from "./kinds/form.js";
import type { OptionsRequest } from "./kinds/options.js";
import type { OtherRequest } from "./kinds/other.js";
import type { YesNoRequest } from "./kinds/yes-no.js";

/** An interrupt, understood: one of the kinds that graphs send, discriminated by `kind`. */
export type Question =
  | ToolApprovalsRequest
  | ApprovalRequest
  | AgentInboxRequest
  | ElicitationRequest
  | AskUserRequest
  | FormRequest
  | OptionsRequest
  | YesNoRequest
  | DraftRequest
  | ActionRequest
  | CopilotKitRequest
  | BreakpointRequest
  | OtherRequest;
