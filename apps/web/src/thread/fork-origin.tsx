"use client";

import { useThreadHandle } from "@throughline/agent-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { messageAnchor } from "../agent-ui/conversation/anchors";
import { Icon } from "../agent-ui/primitives/icon";
import { titleOf } from "../agents/thread-pages";
import { useCaller } from "../data/caller";
import { type ForkedFrom, useListing } from "../data/thread";
import { sharedOf, threadPath } from "../shell/routes";
import styles from "./fork-origin.module.css";
import { useThreadListing } from "./thread-title";

/** Link to the thread that a fork began in. */
export function ForkOrigin(): ReactNode {
  const origin = useThreadListing().value?.forkedFrom;
  return origin ? <Origin origin={origin} /> : null;
}

function Origin({ origin }: { readonly origin: ForkedFrom }): ReactNode {
  const { agentId } = useThreadHandle();
  const { threadName: threadId, messageId } = origin;
  // A caller without a subject has the account's threads only, and their URLs carry no visibility.
  const visibility = useCaller().isPerson ? sharedOf(origin) : undefined;
  const { value, isLoading, problem } = useListing({ agentId, threadId, visibility });
  if (isLoading) return null;
  const path = threadPath(agentId, threadId, visibility);
  return (
    <p className={styles.origin}>
      <Icon name="fork" size={12} />
      {value === null || problem ? (
        <span>Forked from a thread that is gone or not yours to read</span>
      ) : (
        <span>
          Forked from{" "}
          <Link href={messageId === null ? path : `${path}#${messageAnchor(messageId)}`}>
            {titleOf({ title: value?.title ?? null, threadName: threadId })}
          </Link>
        </span>
      )}
    </p>
  );
}
