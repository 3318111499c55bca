export type { Agent, AgentInput, DescribeError, RawEvents } from "./record-run.js";
export type { RunnerOptions } from "./runner.js";

export type { RunnerStore } from "./stores.js";

export * from "./throughline-runner.js";
