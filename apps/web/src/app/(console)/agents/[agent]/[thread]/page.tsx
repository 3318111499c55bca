import type { Metadata } from "next";
import type { ReactNode } from "react";
import { agentIdOf } from "../../../../../shell/routes";
import { ThreadPage } from "../../../../../thread/thread-page";

interface Props {
  readonly params: Promise<{ readonly agent: string; readonly thread: string }>;
}

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const name = decodeURIComponent((await params).agent);
  return { title: name.charAt(0).toUpperCase() + name.slice(1) };
}

export default async function Page({ params }: Props): Promise<ReactNode> {
  const { agent, thread } = await params;
  return <ThreadPage agentId={agentIdOf(agent)} threadId={decodeURIComponent(thread)} />;
}
