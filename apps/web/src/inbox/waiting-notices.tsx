"use client";

import { useRouter } from "next/navigation";
import { useEffect } from "react";
import { useWaiting } from "../agents/activity";
import { titleOf } from "../agents/thread-row";
import { threadPath } from "../console/paths";
import { useAgentCatalog } from "../console/use-agent-catalog";
import type { WaitingQuestion } from "../service/queries/waiting";
import { keepTold, readTold } from "./told-questions";
import { untoldOf } from "./untold";

/** Notifies of each question that begins to wait. Rendered in the tab that notifies alone. */
export function WaitingNotices({ account }: { readonly account: string }): null {
  const waiting = useWaiting();
  const { byId } = useAgentCatalog();
  const router = useRouter();
  useEffect(() => {
    if (!waiting) return;
    const { untold, told } = untoldOf(readTold(account), waiting.questions.map(questionKey));
    keepTold(account, told);
    for (const question of waiting.questions) {
      const key = questionKey(question);
      if (!untold.includes(key)) continue;
      const { agentId, threadName, visibility } = question;
      const name = byId.get(agentId)?.name ?? agentId;
      // One of the same tag takes the other's place, should two be shown for one question.
      const notice = new Notification(`${name} waits for your answer`, { body: titleOf(question), tag: key });
      notice.onclick = () => {
        window.focus();
        router.push(threadPath(agentId, threadName, visibility));
        notice.close();
      };
    }
  }, [waiting, account, byId, router]);
  return null;
}

function questionKey({ agentId, threadName, visibility, runId, interrupt }: WaitingQuestion): string {
  return [agentId, visibility ?? "private", threadName, interrupt?.interrupt_id ?? runId].join(" ");
}
