export * from "./client/agent-client.js";
export type { ClientParts } from "./client/client-parts.js";
export type { PendingCommands } from "./client/command-shell.js";
export { everyPart } from "./client/every-part.js";
export {
  type AgentList,
  type AgentListOptions,
  type AgentStore,
  type AgentsSnapshot,
  type AgentView,
  listAgents,
} from "./client/list-agents.js";
export { newId } from "./client/new-id.js";
export { type FrameScheduler, nextFrame } from "./client/notifier.js";
export type { LogReader } from "./client/open-log.js";
export { pollThreads } from "./client/poll-shell.js";
export { createMemoryStorage, type StoragePort } from "./client/storage.js";
export type { Store } from "./client/store.js";
export type { Surroundings } from "./client/surroundings.js";
export type { Telemetry } from "./client/telemetry.js";
export type { LoggedFrame, SubmittedCommand, ThreadHandle, ThreadSnapshot } from "./client/thread-handle.js";
export type { BusyPolicy, CommandOutcome, RunInput, RunNames } from "./commands/command.js";
export { type CommandPolicy, DEFAULT_COMMAND_POLICY, type QueuedRun } from "./commands/scheduler-state.js";
export {
  type ConnectionPolicy,
  type ConnectionStatus,
  DEFAULT_CONNECTION_POLICY,
  type StreamFailure,
} from "./connection/connection.js";
export { DEFAULT_POLL_POLICY, type PollPolicy } from "./poller/poller.js";
export { contentText } from "./projection/content-text.js";
export * from "./projection/projection.js";
export * from "./projection/thread-view.js";
export {
  type AccountApi,
  type AccountApiOptions,
  type CallerInfo,
  createAccountApi,
  type Reach,
  refusalOf,
  threadCall,
} from "./service/account-api.js";
export type { HttpOptions } from "./service/http-request.js";
export { createHttpService, type HttpServiceOptions } from "./service/http-service.js";
export type {
  AgentInfo,
  Circumstances,
  FollowedThread,
  FollowSink,
  LogText,
  ServicePort,
  StreamEnd,
  ThreadName,
  ToolDeclaration,
  Visibility,
} from "./service/service-port.js";
export type { ListedThread, ThreadPage, ThreadQuery, UploadedFile } from "./service/thread-listing.js";
export { createMemoryChannels, createMemoryLocks } from "./tabs/memory-ports.js";
export type { Channel, ChannelPort, LockPort } from "./tabs/ports.js";
export { shareTabs } from "./tabs/share-tabs.js";
export { type FrontendTool, frontendTools, type ToolCallFacts } from "./tools/frontend-tools.js";
export type * from "./wire/agent-event.js";
export type { EventText, StreamEvent } from "./wire/event-parser.js";
export { type EventStreamSink, readEventStream } from "./wire/read-event-stream.js";
