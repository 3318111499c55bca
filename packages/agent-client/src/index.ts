export type { ListedThread, ThreadPage, ThreadQuery, UploadedFile } from "./account/account-api.js";
export {
  type AccountApi,
  type AccountApiOptions,
  type CallerInfo,
  createAccountApi,
  type Reach,
  refusalOf,
  threadPath,
} from "./account/account-api.js";
export type { ClientFeatures } from "./client/agent-client.js";
export * from "./client/agent-client.js";
export { allFeatures } from "./client/agent-client.js";
export {
  type AgentList,
  type AgentListOptions,
  type AgentStore,
  type AgentsSnapshot,
  type AgentView,
  listAgents,
} from "./client/agent-directory.js";
export type { Surroundings, Telemetry } from "./client/environment.js";
export type { Store } from "./client/store.js";
export { type FrameScheduler, nextAnimationFrame } from "./client/store.js";
export type {
  RecordedFrame,
  SubmittedCommand,
  ThreadHandle,
  ThreadSnapshot,
} from "./client/thread-handle.js";
export type { PendingCommands } from "./commands/agent-command-scheduler.js";
export type { BusyPolicy, CommandOutcome, RunInput, RunNames } from "./commands/command.js";
export { newId } from "./commands/mutation-ids.js";
export { createMemoryStorage, type StoragePort } from "./commands/pending-sync.js";

export { type CommandPolicy, DEFAULT_COMMAND_POLICY, type QueuedRun } from "./commands/scheduler-state.js";

export {
  type ConnectionPolicy,
  type ConnectionStatus,
  DEFAULT_CONNECTION_POLICY,
  type RequestFailure,
} from "./connection/connection-state.js";
export type { LogReader } from "./connection/thread-stream.js";
export { DEFAULT_POLL_POLICY, type PollPolicy, statusPolling } from "./polling/agent-status-poller.js";
export * from "./projection/agent-projection-reducer.js";
export * from "./projection/thread-view.js";
export { contentText } from "./projection/thread-view.js";
export { createMemoryChannels, createMemoryLocks } from "./tabs/memory-ports.js";
export type { Channel, ChannelPort, LockPort } from "./tabs/ports.js";
export { tabSharing } from "./tabs/shared-thread-stream.js";
export { type FrontendTool, frontendTools, type ToolCallFacts } from "./tools/frontend-tools.js";
export type {
  AgentInfo,
  AgentService,
  FollowedThread,
  FollowSink,
  LogEntryText,
  RequestContext,
  StreamEnd,
  ThreadName,
  ToolDeclaration,
  Visibility,
} from "./transport/agent-service.js";
export type { SseText, StreamEvent } from "./transport/event-stream.js";
export { type EventStreamSink, readEventStream } from "./transport/event-stream.js";
export type { HttpOptions } from "./transport/http.js";
export { createHttpService, type HttpServiceOptions } from "./transport/http-agent-service.js";
export type * from "./wire/agent-event.js";
