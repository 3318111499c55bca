"use client";

import { CopilotChat, CopilotKitProvider } from "@copilotkit/react-core/v2";
import { Questions } from "./questions";

interface ChatProps {
  readonly runtimeUrl: string;
  readonly agentId: string;
  /** CopilotChat shows what a thread holds only if it is told which one. */
  readonly threadId: string;
}

export function Chat({ runtimeUrl, agentId, threadId }: ChatProps) {
  return (
    <CopilotKitProvider runtimeUrl={runtimeUrl}>
      <Questions agentId={agentId} />
      <CopilotChat agentId={agentId} threadId={threadId} />
    </CopilotKitProvider>
  );
}
