"use client";

import { useThreadHandle } from "@throughline/agent-react";
import type { ReactNode } from "react";
import { useCaller } from "../../console/caller";
import { useAgentCatalog } from "../../console/use-agent-catalog";
import { Icon } from "../../design/icon";
import { useSteering } from "../steering/steering";
import { warmTurns } from "../turns/warm-turns";
import styles from "./empty-thread.module.css";
import { examplesFor } from "./examples";

/** What the agent is for, and three ways to begin. */
export function EmptyThread(): ReactNode {
  const handle = useThreadHandle();
  const { agentId } = handle;
  const reason = useCaller().refusal("run", handle);
  const agent = useAgentCatalog().byId.get(agentId);
  const { send } = useSteering();
  if (!agent) return null;
  return (
    <div className={styles.empty}>
      <h2>{agent.name}</h2>
      <p className={styles.about}>{agent.description}</p>
      <ul className={styles.examples} aria-label="Examples">
        {examplesFor(agent.graphName).map((example) => (
          <li key={example}>
            <button
              type="button"
              className={styles.example}
              disabled={reason !== undefined}
              title={reason}
              onPointerEnter={warmTurns}
              onFocus={warmTurns}
              onClick={() => send(example)}
            >
              <span>{example}</span>
              <span className={styles.arrow}>
                <Icon name="send" size={14} />
              </span>
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
