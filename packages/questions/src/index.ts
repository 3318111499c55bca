export { adaptAnswer } from "./adapt-answer.js";
export { answerWords } from "./answer-words.js";
export { type AskForm, askForm } from "./ask-form.js";
export { checkAnswer } from "./check-answer.js";
export { checkEdit } from "./check-edit.js";
export { dismissAnswer } from "./dismiss-answer.js";
export { type ActionQuestion, answerAction } from "./kinds/action.js";
export {
  type AgentInboxQuestion,
  answerAgentInbox,
  type InboxAnswer,
  type InboxVerb,
} from "./kinds/agent-inbox.js";
export { type ApprovalQuestion, answerApproval, reasonField } from "./kinds/approval.js";
export { type ApprovalsQuestion, answerApprovals } from "./kinds/approvals.js";
export { type AskUserQuestion, answerAskUser, type UserChoice, type UserPrompt } from "./kinds/ask-user.js";
export { type BreakpointQuestion, readBreakpoint } from "./kinds/breakpoint.js";
export type { CopilotKitQuestion } from "./kinds/copilotkit.js";
export { type Decision, offeredDecisions, type ReviewedAction, type Spelling } from "./kinds/decision.js";
export type { DraftQuestion } from "./kinds/draft.js";
export {
  answerElicitation,
  type ElicitationAnswer,
  type ElicitationQuestion,
  type ElicitationRequest,
} from "./kinds/elicitation.js";
export { answerForm, type FormQuestion } from "./kinds/form.js";
export type { OptionsQuestion, QuestionOption } from "./kinds/options.js";
export type { OtherQuestion } from "./kinds/other.js";
export type { YesNoQuestion } from "./kinds/yes-no.js";
export type { Mismatch } from "./mismatch.js";
export type { Question } from "./question.js";
export { NO_WORDS } from "./question-source.js";
export { type QuestionHints, readQuestion } from "./read-question.js";
