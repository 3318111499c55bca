"use client";

import { useCommands, useConnection } from "@throughline/agent-react";
import { type ReactNode, useEffect, useState } from "react";
import { Button } from "../design/button";
import { Icon } from "../design/icon";
import styles from "./connection-badge.module.css";
import { connectionWords } from "./connection-words";

/** How the line to this thread stands, in words, with a way to mend it. Inside a `<ThreadProvider>`. */
export function ConnectionBadge(): ReactNode {
  const status = useConnection();
  const { reconnect } = useCommands();
  const now = useNow(status.kind === "reconnecting" && status.retryAt !== undefined);
  const { tone, words, detail, canReconnect, heard } = connectionWords(status, now);
  return (
    <div className={styles.badge}>
      <span className={`${styles.state} ${styles[tone]}`} title={detail}>
        <span className={styles.mark} aria-hidden="true">
          {tone === "failed" && <Icon name="error" size={14} />}
        </span>
        <span className={styles.words}>{words}</span>
      </span>
      {/* Seconds that count down are seen, not heard. */}
      <span className="visually-hidden" role="status">
        {heard}
      </span>
      {canReconnect && (
        <Button look="quiet" className={styles.again} onClick={() => reconnect()}>
          Reconnect now
        </Button>
      )}
    </div>
  );
}

/** The current time, while a countdown is shown. */
function useNow(isCounting: boolean): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!isCounting) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 250);
    return () => clearInterval(timer);
  }, [isCounting]);
  return now;
}
