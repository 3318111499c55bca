"use client";

export { contentText } from "@throughline/agent-client";
export { usePredictState } from "./predicted-state.js";
export {
  AgentProvider,
  type AgentProviderProps,
  ThreadProvider,
  type ThreadProviderProps,
  useAgentClient,
  useAgents,
  useThreadHandle,
} from "./providers.js";
export type { ToolRenderer } from "./tool-renderers.js";
export { ToolCalls, useFrontendTool, useRenderTool } from "./tool-renderers.js";
export { type Attachment, type Attachments, useAttachments } from "./use-attachments.js";
export { type AgentCustomEvent, useCustomEvents } from "./use-custom-events.js";
export {
  type AskedQuestion,
  type InterruptResponses,
  type OpenInterrupt,
  readInterrupt,
  useInterrupt,
} from "./use-interrupt.js";
export { useMessage, useMessageIds, useMessages } from "./use-messages.js";
export { type Queue, useQueue } from "./use-queue.js";
export { shallowEqual } from "./use-selector.js";
export {
  type ThreadCommands,
  useCalls,
  useCommands,
  useConnection,
  useEventLog,
  useInterrupts,
  usePending,
  useRun,
  useThread,
  useThreadState,
  useUsage,
} from "./use-thread.js";
export type { ThreadListSnapshot } from "./use-threads.js";
export { type Threads, type ThreadsOptions, useThreads } from "./use-threads.js";
export { resultOf, type ToolCallState, type ToolCallStatus, useToolCall } from "./use-tool-call.js";
