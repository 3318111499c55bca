/** What a runner needs of an AG-UI agent, whichever version it is of. */
export interface Agent {
  readonly agentId?: string | undefined;
  runAgent(
    parameters: Pick<AgentInput, "runId">,
    subscriber: { onEvent(params: { readonly event: object }): Promise<void> },
  ): Promise<unknown>;
  abortRun(): void;
  /** Ends `runAgent` although the agent goes on. */
  detachActiveRun?(): Promise<void>;
}

/** The fields of `RunAgentInput` that the runner reads; all of them reach the agent. */
export interface AgentInput {
  readonly threadId: string;
  readonly runId: string;
  readonly parentRunId?: string | undefined;
  readonly messages: readonly object[];
  readonly resume?: unknown;
  readonly forwardedProps?: unknown;
}

/** What an agent's own failure is told as. The error itself may carry a key, a prompt or a path. */
export type DescribeError = (error: unknown) => string;

export type RawEvents = "keep" | "drop";
