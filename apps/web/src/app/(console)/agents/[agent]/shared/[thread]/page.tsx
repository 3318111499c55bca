import type { ReactNode } from "react";
import { agentIdOf } from "../../../../../../shell/routes";
import { ThreadPage } from "../../../../../../thread/thread-page";

export { generateMetadata } from "../../[thread]/page";

interface Props {
  readonly params: Promise<{ readonly agent: string; readonly thread: string }>;
}

/** Page of a thread that the account shares. */
export default async function Page({ params }: Props): Promise<ReactNode> {
  const { agent, thread } = await params;
  return <ThreadPage agentId={agentIdOf(agent)} threadId={decodeURIComponent(thread)} visibility="account" />;
}
