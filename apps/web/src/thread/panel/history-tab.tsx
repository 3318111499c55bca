"use client";

import { useThreadHandle } from "@throughline/agent-react";
import { useRouter } from "next/navigation";
import { type ReactNode, useState } from "react";
import { Button } from "../../agent-ui/primitives/button";
import { Disclosure } from "../../agent-ui/primitives/disclosure";
import { EmptyState } from "../../agent-ui/primitives/empty-state";
import { Problem } from "../../agent-ui/primitives/field";
import { Icon } from "../../agent-ui/primitives/icon";
import { NOTHING_CHANGED, StateTree } from "../../agent-ui/primitives/json-tree";
import { PanelErrorState, Skeleton } from "../../agent-ui/primitives/status";
import { RelativeTime } from "../../agent-ui/primitives/time";
import { useCaller } from "../../data/caller";
import { type Checkpoint, useCheckpoints, useForkFrom } from "../../data/checkpoints";
import { useRefreshOnRun } from "../../data/refresh-on-run";
import { sharedOf, threadPath } from "../../shell/routes";
import styles from "./history-tab.module.css";

const PAGE = 20;
/** Largest page that the service returns. */
const MOST = 100;

/** Lists the thread's checkpoints. Each of them can be forked to a new thread. */
export function HistoryTab(): ReactNode {
  const handle = useThreadHandle();
  const [limit, setLimit] = useState(PAGE);
  const { value: shown, problem, isLoading, refresh } = useCheckpoints(handle, limit);
  useRefreshOnRun(refresh);
  if (!shown && isLoading)
    return <Skeleton label="Loading checkpoints" lines={5} className={styles.loading ?? ""} />;
  if (!shown && problem) return <PanelErrorState message={problem.message} onRetry={refresh} />;
  if (!shown || shown.checkpoints.length === 0) {
    return <EmptyState title="No checkpoint yet">The agent writes one with each step it takes.</EmptyState>;
  }
  return (
    <div className={styles.history}>
      <p className={styles.lead}>
        The agent's state at each step. Fork one to go on from there in a new thread.
      </p>
      <ol className={styles.checkpoints} aria-label="Checkpoints, newest first">
        {shown.checkpoints.map((checkpoint) => (
          <CheckpointItem key={checkpoint.checkpointId} checkpoint={checkpoint} />
        ))}
      </ol>
      {shown.hasMore && limit < MOST && (
        <Button
          look="quiet"
          className={styles.more}
          onClick={() => setLimit(Math.min(MOST, limit + 2 * PAGE))}
        >
          Show older
        </Button>
      )}
    </div>
  );
}

function CheckpointItem({ checkpoint }: { readonly checkpoint: Checkpoint }): ReactNode {
  const handle = useThreadHandle();
  const reason = useCaller().refusal("edit", handle);
  const router = useRouter();
  const forkFrom = useForkFrom(handle);
  const [isForking, setForking] = useState(false);
  const [problem, setProblem] = useState<string>();
  const { values, messageIds, createdAt } = checkpoint;
  const words = checkpointLabel(checkpoint);

  async function fork(): Promise<void> {
    setForking(true);
    setProblem(undefined);
    try {
      const name = await forkFrom(checkpoint.checkpointId);
      router.push(threadPath(handle.agentId, name, sharedOf(handle)));
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
      setForking(false);
    }
  }

  return (
    <li className={styles.checkpoint}>
      <Disclosure
        className={styles.fold ?? ""}
        summary={
          <span className={styles.summary}>
            <span className={styles.words}>{words}</span>
            {createdAt !== null && <RelativeTime at={createdAt} className={styles.time ?? ""} />}
          </span>
        }
      >
        <div className={styles.inside}>
          <p className={styles.facts}>
            {checkpoint.step !== null && <span>Step {checkpoint.step}</span>}
            <span>{messageIds.length === 1 ? "1 message" : `${messageIds.length} messages`}</span>
          </p>
          {Object.keys(values).length > 0 && <StateTree value={values} changes={NOTHING_CHANGED} round={0} />}
          <Button
            disabled={isForking || reason !== undefined}
            title={reason}
            onClick={() => void fork()}
            aria-label={`Fork from here: ${words}`}
          >
            <Icon name="fork" />
            Fork from here
          </Button>
          <Problem>{problem}</Problem>
        </div>
      </Disclosure>
    </li>
  );
}

/** Label of a checkpoint: the agent's next step. */
export function checkpointLabel({
  next,
  source,
  interrupts,
}: Pick<Checkpoint, "next" | "source" | "interrupts">): string {
  if (interrupts.length > 0)
    return interrupts.length === 1 ? "Asks a question" : `Asks ${interrupts.length} questions`;
  if (next.length === 0) return "Done";
  if (source === "input") return "Asked";
  // Several calls of one node are listed once.
  return `Before ${[...new Set(next)].join(", ")}`;
}
