import { Chat } from "./chat";

interface Asked {
  readonly searchParams: Promise<{ readonly thread?: string }>;
}

export default async function Page({ searchParams }: Asked) {
  const { thread = "first" } = await searchParams;
  return <Chat runtimeUrl="/api/copilotkit" agentId="travel" threadId={thread} />;
}
