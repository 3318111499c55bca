"use client";

import Link from "next/link";
import { type ReactNode, useState } from "react";
import { messageAnchor } from "../agent-ui/conversation/anchors";
import { Button } from "../agent-ui/primitives/button";
import { EmptyState } from "../agent-ui/primitives/empty-state";
import { Field, Select } from "../agent-ui/primitives/field";
import { Icon } from "../agent-ui/primitives/icon";
import { ErrorState, Skeleton } from "../agent-ui/primitives/status";
import { RelativeTime } from "../agent-ui/primitives/time";
import { useAgentCatalog } from "../data/agents";
import { useCaller } from "../data/caller";
import { type FeedbackFilter, type FeedbackRow, useFeedbackList } from "../data/feedback";
import { PageFrame } from "../shell/page-frame";
import { sharedOf, threadPath } from "../shell/routes";
import styles from "./feedback-page.module.css";

const VALUES = [
  { label: "All thumbs", value: undefined },
  { label: "Thumbs up", value: "up" },
  { label: "Thumbs down", value: "down" },
] as const;

/** Page of feedback on answers, with a link to each answer. */
export function FeedbackPage({ agentId: first }: { readonly agentId?: string }): ReactNode {
  const refusal = useCaller().refusal("read_feedback");
  const isAdmin = useCaller().role === "admin";
  const [agentId, setAgentId] = useState(first);
  const [value, setValue] = useState<FeedbackRow["value"]>();
  const filter: FeedbackFilter = { ...(agentId !== undefined && { agentId }), ...(value && { value }) };
  const isAllowed = refusal === undefined;
  const { rows, problem, isLoading, hasMore, more, refresh } = useFeedbackList(filter, isAllowed);
  return (
    <PageFrame
      title="Feedback"
      lead={isAdmin ? "What people think of answers." : "What you think of answers."}
    >
      {!isAllowed && <EmptyState title="Not for your role">{refusal}</EmptyState>}
      {isAllowed && <Filters agentId={agentId} value={value} onAgent={setAgentId} onValue={setValue} />}
      {isLoading && <Skeleton label="Loading feedback" lines={6} />}
      {problem && <ErrorState message={problem.message} onRetry={refresh} />}
      {rows?.length === 0 && (
        <EmptyState title={agentId === undefined && !value ? "No feedback yet" : "No such feedback"}>
          The thumbs under an answer say whether it was good, and a note can say why. Both show here.
        </EmptyState>
      )}
      {rows && rows.length > 0 && (
        <ul className={styles.list} aria-label="Feedback">
          {rows.map((row) => (
            <Row key={JSON.stringify([row.agentId, row.threadName, row.messageId, row.subject])} row={row} />
          ))}
        </ul>
      )}
      {hasMore && <Button onClick={more}>Show more</Button>}
    </PageFrame>
  );
}

interface FiltersProps {
  readonly agentId: string | undefined;
  readonly value: FeedbackRow["value"] | undefined;
  readonly onAgent: (agentId: string | undefined) => void;
  readonly onValue: (value: FeedbackRow["value"] | undefined) => void;
}

function Filters({ agentId, value, onAgent, onValue }: FiltersProps): ReactNode {
  const agents = useAgentCatalog().agents ?? [];
  return (
    <div className={styles.filters}>
      <Field label="Agent" isLabelHidden>
        <Select value={agentId ?? ""} onChange={(event) => onAgent(event.target.value || undefined)}>
          <option value="">All agents</option>
          {agents.map((agent) => (
            <option key={agent.id} value={agent.id}>
              {agent.name}
            </option>
          ))}
        </Select>
      </Field>
      <Field label="Thumb" isLabelHidden>
        <Select value={value ?? ""} onChange={(event) => onValue(VALUES[event.target.selectedIndex]?.value)}>
          {VALUES.map((one) => (
            <option key={one.label} value={one.value ?? ""}>
              {one.label}
            </option>
          ))}
        </Select>
      </Field>
    </div>
  );
}

function Row({ row }: { readonly row: FeedbackRow }): ReactNode {
  const { byId } = useAgentCatalog();
  const isUp = row.value === "up";
  return (
    <li className={styles.row}>
      <span className={styles.thumb} data-value={row.value}>
        <Icon name={isUp ? "thumbUp" : "thumbDown"} />
        <span className="visually-hidden">{isUp ? "Thumb up" : "Thumb down"}</span>
      </span>
      <div className={styles.words}>
        <p className={styles.note} data-none={row.note === null}>
          {row.note ?? "No note"}
        </p>
        <p className={styles.about}>
          <span>{byId.get(row.agentId)?.name ?? row.agentId}</span>
          <Turn row={row} />
          <span>{row.subject ?? "The account"}</span>
          <RelativeTime at={row.updatedAt} />
        </p>
      </div>
    </li>
  );
}

/** Link to the rated answer. A private thread has a link for its own person only. */
function Turn({ row }: { readonly row: FeedbackRow }): ReactNode {
  const { subject: me } = useCaller();
  const { agentId, threadName, visibility, messageId, subject } = row;
  if (visibility === "private" && subject !== me) return <span>A private thread</span>;
  const path = threadPath(agentId, threadName, sharedOf(row));
  return <Link href={`${path}#${messageAnchor(messageId)}`}>Open the answer</Link>;
}
