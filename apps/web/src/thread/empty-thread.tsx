"use client";

import { useThreadHandle } from "@throughline/agent-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { preloadTurns } from "../agent-ui/conversation/preload-turns";
import { useThreadSession } from "../agent-ui/conversation/thread-session";
import { Icon } from "../agent-ui/primitives/icon";
import { useAgentCatalog } from "../data/agents";
import { useCaller } from "../data/caller";
import { OfflineModel } from "../shell/offline-model";
import { feedbackPath } from "../shell/routes";
import styles from "./empty-thread.module.css";

/** Content of an empty thread: the agent's description, its model and suggested questions. */
export function EmptyThread(): ReactNode {
  const handle = useThreadHandle();
  const { agentId } = handle;
  const { refusal } = useCaller();
  const reason = refusal("run", handle);
  const agent = useAgentCatalog().byId.get(agentId);
  const { send } = useThreadSession();
  if (!agent) return null;
  return (
    <div className={styles.empty}>
      <h2>{agent.name}</h2>
      <p className={styles.about}>
        {agent.description || "This graph has no description. Give it one in langgraph.json."}
      </p>
      {agent.answeredBy === "script" && (
        <p className={styles.offline}>
          <OfflineModel />
          <span>It answers the questions below well, and says so when it can't answer another.</span>
        </p>
      )}
      {agent.suggestions.length === 0 ? (
        <p className={styles.about}>Write a message to begin.</p>
      ) : (
        <ul className={styles.examples} aria-label="Suggested questions">
          {agent.suggestions.map((question) => (
            <li key={question}>
              <button
                type="button"
                className={styles.example}
                disabled={reason !== undefined}
                title={reason}
                onPointerEnter={preloadTurns}
                onFocus={preloadTurns}
                onClick={() => send(question)}
              >
                <span>{question}</span>
                <span className={styles.arrow}>
                  <Icon name="send" size={14} />
                </span>
              </button>
            </li>
          ))}
        </ul>
      )}
      {refusal("read_feedback") === undefined && (
        <p className={styles.about}>
          <Link href={feedbackPath(agentId)} prefetch={false}>
            Feedback on its answers
          </Link>
        </p>
      )}
    </div>
  );
}
