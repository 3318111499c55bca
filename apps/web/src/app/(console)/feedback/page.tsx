import type { Metadata } from "next";
import type { ReactNode } from "react";
import { FeedbackPage } from "../../../feedback/feedback-page";
import { agentIdOf } from "../../../shell/routes";

export const metadata: Metadata = { title: "Feedback" };

interface Props {
  readonly searchParams: Promise<{ readonly agent?: string | string[] }>;
}

export default async function Feedback({ searchParams }: Props): Promise<ReactNode> {
  const { agent } = await searchParams;
  return (
    <FeedbackPage {...(typeof agent === "string" && { agentId: agentIdOf(encodeURIComponent(agent)) })} />
  );
}
