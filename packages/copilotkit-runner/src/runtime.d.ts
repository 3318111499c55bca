// The part of `@copilotkit/runtime/v2` 1.75.0 that a runner needs. The package itself depends on 350 others, so the workspace
// is built without it; `npm run e2e -- stock` builds against its own types and runs it.
declare module "@copilotkit/runtime/v2" {
  import type { AbstractAgent, BaseEvent, Message, RunAgentInput } from "@ag-ui/client";
  import type { Observable } from "rxjs";

  export interface AgentRunnerRunRequest {
    threadId: string;
    agent: AbstractAgent;
    input: RunAgentInput;
    persistedInputMessages?: Message[];
  }
  export interface AgentRunnerConnectRequest {
    threadId: string;
    agentId?: string;
    headers?: Record<string, string>;
  }
  export interface AgentRunnerIsRunningRequest {
    threadId: string;
  }
  export interface AgentRunnerStopRequest {
    threadId: string;
    runId?: string;
  }
  export abstract class AgentRunner {
    abstract run(request: AgentRunnerRunRequest): Observable<BaseEvent>;
    abstract connect(request: AgentRunnerConnectRequest): Observable<BaseEvent>;
    abstract isRunning(request: AgentRunnerIsRunningRequest): Promise<boolean>;
    abstract stop(request: AgentRunnerStopRequest): Promise<boolean | undefined>;
  }
}
