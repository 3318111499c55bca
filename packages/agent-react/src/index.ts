"use client";

export { contentText } from "@throughline/agent-client";
export { AgentProvider, type AgentProviderProps, useAgentClient, useAgents } from "./agent-provider.js";
export {
  type AskedQuestion,
  type GivenAnswers,
  type OpenQuestion,
  readInterrupt,
} from "./asked-question.js";
export { shallowEqual } from "./shallow-equal.js";
export type { ThreadListSnapshot } from "./thread-list.js";
export { ThreadProvider, type ThreadProviderProps, useThreadHandle } from "./thread-provider.js";
export { resultOf, type ToolCallStatus } from "./tool-call.js";
export type { ToolRenderer } from "./tool-renderers.js";
export { type Attachment, type Attachments, useAttachments } from "./use-attachments.js";
export { type ThreadCommands, useCommands } from "./use-commands.js";
export { type AgentCustomEvent, useCustomEvents } from "./use-custom-events.js";
export { useFrontendTool } from "./use-frontend-tool.js";
export { useMessage, useMessageIds, useMessages } from "./use-messages.js";
export { usePredictState } from "./use-predict-state.js";
export { useQuestion } from "./use-question.js";
export { type Queue, useQueue } from "./use-queue.js";
export { ToolCalls, useRenderTool } from "./use-render-tool.js";
export {
  useCalls,
  useConnection,
  useEventLog,
  useInterrupts,
  usePending,
  useRun,
  useThread,
  useThreadState,
  useUsage,
} from "./use-thread.js";
export { type Threads, type ThreadsOptions, useThreads } from "./use-threads.js";
export { type ToolCallState, useToolCall } from "./use-tool-call.js";
