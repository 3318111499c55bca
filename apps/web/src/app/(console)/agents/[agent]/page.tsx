import type { Metadata } from "next";
import type { ReactNode } from "react";
import { agentIdOf } from "../../../../shell/routes";
import { NewThreadPage } from "../../../../thread/thread-page";

interface Props {
  readonly params: Promise<{ readonly agent: string }>;
}

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const name = decodeURIComponent((await params).agent);
  return { title: name.charAt(0).toUpperCase() + name.slice(1) };
}

export default async function Page({ params }: Props): Promise<ReactNode> {
  const { agent } = await params;
  return <NewThreadPage agentId={agentIdOf(agent)} />;
}
