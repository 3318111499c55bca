import { Chat } from "./chat";

interface Asked {
  readonly searchParams: Promise<{ readonly agent?: string; readonly thread?: string }>;
}

export default async function Page({ searchParams }: Asked) {
  const { agent = "langgraph:travel", thread = "first" } = await searchParams;
  // The only line that knows of Throughline: where the runtime is.
  const runtimeUrl = process.env.RUNTIME_URL ?? "http://127.0.0.1:8000/api/copilotkit";
  return <Chat runtimeUrl={runtimeUrl} agentId={agent} threadId={thread} />;
}
