export type { RunnerOptions } from "./create-runner.js";
export type { Agent, AgentInput, DescribeError, RawEvents } from "./drive/agent.js";
export type { RunnerStore } from "./open-stores.js";
export * from "./throughline-runner.js";
