export { adaptResponse } from "./adapt-answer.js";
export { describeResponse } from "./answer-words.js";
export { type AgUiForm, toAgUiForm } from "./ask-form.js";
export { validateResponse } from "./check-answer.js";
export { validateEdit } from "./check-edit.js";
export { dismissResponse } from "./dismiss-answer.js";
export { type ActionRequest, respondToAction } from "./kinds/action.js";
export {
  type AgentInboxRequest,
  type InboxResponse,
  type InboxVerb,
  respondToAgentInbox,
} from "./kinds/agent-inbox.js";
export { type ApprovalRequest, reasonField, respondToApproval } from "./kinds/approval.js";
export { respondToApprovals, type ToolApprovalsRequest } from "./kinds/approvals.js";
export { type AskUserRequest, respondToAskUser, type UserChoice, type UserPrompt } from "./kinds/ask-user.js";
export { type BreakpointRequest, readBreakpoint } from "./kinds/breakpoint.js";
export type { CopilotKitRequest } from "./kinds/copilotkit.js";
export {
  type Decision,
  type DecisionDialect,
  offeredDecisions,
  type ReviewedAction,
} from "./kinds/decision.js";
export type { DraftRequest } from "./kinds/draft.js";
export {
  type ElicitationItem,
  type ElicitationRequest,
  type ElicitationResponse,
  respondToElicitation,
} from "./kinds/elicitation.js";
export { type FormRequest, respondToForm } from "./kinds/form.js";
export type { InterruptOption, OptionsRequest } from "./kinds/options.js";
export type { OtherRequest } from "./kinds/other.js";
export type { YesNoRequest } from "./kinds/yes-no.js";
export type { ResponseProblem } from "./mismatch.js";
export type { Question } from "./question.js";
export { DEFAULT_MESSAGE } from "./question-source.js";
export { type InterruptHints, readInterruptRequest } from "./read-question.js";
