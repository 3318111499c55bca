"use client";

import { useThread, useThreadHandle } from "@throughline/agent-react";
import { useRouter } from "next/navigation";
import { type ReactNode, useState } from "react";
import { ConfirmDialog } from "../agent-ui/primitives/dialog";
import { Icon } from "../agent-ui/primitives/icon";
import { useCaller, useChangeVisibility } from "../data/caller";
import { threadPath } from "../shell/routes";
import styles from "./thread-visibility.module.css";

/** Shows and changes whether the thread is private or shared. Renders nothing where all threads are the account's. */
export function ThreadVisibility(): ReactNode {
  const handle = useThreadHandle();
  const router = useRouter();
  const { isPerson, refusal } = useCaller();
  const changeVisibility = useChangeVisibility();
  const [isAsking, setAsking] = useState(false);
  const hasBegun = useThread(({ view: { run } }) => run !== null && run.serviceRunId !== "throughline:empty");
  const isRunning = useThread(({ view: { run } }) => run?.status === "running");
  if (!isPerson || !hasBegun) return null;
  const isShared = handle.visibility === "account";
  const reason = refusal("share", handle) ?? (isRunning ? "Wait for the run to end, or stop it." : undefined);
  const action = isShared ? "Make it private" : "Share it with the account";

  async function change(): Promise<void> {
    const { agentId, threadId } = handle;
    const visibility = await changeVisibility({
      thread: handle,
      visibility: isShared ? "private" : "account",
    });
    router.replace(threadPath(agentId, threadId, visibility === "account" ? visibility : undefined));
  }

  return (
    <>
      <button
        type="button"
        className={styles.visibility}
        aria-disabled={reason !== undefined}
        title={reason ?? action}
        onClick={() => reason === undefined && setAsking(true)}
      >
        <Icon name={isShared ? "people" : "lock"} size={14} />
        {isShared ? "Shared" : "Private"}
        {reason !== undefined && <span className="visually-hidden">. {reason}</span>}
      </button>
      <ConfirmDialog
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        title={`${action}?`}
        action={isShared ? "Make private" : "Share"}
        onConfirm={change}
      >
        {isShared
          ? "Only you can see it then: other people of the account no longer find it."
          : "Everyone in the account can read it, and write in it if their role allows."}{" "}
        Its conversation and files go along; earlier runs, the log and old checkpoints do not.
      </ConfirmDialog>
    </>
  );
}
