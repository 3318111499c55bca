"use client";

export { AgentProvider, type AgentProviderProps, useAgentClient, useAgents } from "./agent-provider.js";
export { shallowEqual } from "./shallow-equal.js";
export { ThreadProvider, type ThreadProviderProps, useThreadHandle } from "./thread-provider.js";
export { type ThreadCommands, useCommands } from "./use-commands.js";
export { useFrontendTool } from "./use-frontend-tool.js";
export { useMessage, useMessageIds, useMessages } from "./use-messages.js";
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
