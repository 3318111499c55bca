"use client";

import Link from "next/link";
import type { ReactNode } from "react";
import { sharedOf, threadPath } from "../console/paths";
import { useAgentCatalog } from "../console/use-agent-catalog";
import { Button, IconButton } from "../design/button";
import buttonStyles from "../design/button.module.css";
import { ListProblem } from "../design/list-problem";
import { RelativeTime } from "../design/relative-time";
import { Skeleton } from "../design/skeleton";
import { type RunRow, runsCsvPath, type UsageFilter, useSpendRuns } from "../service/queries/usage";
import { Cost } from "./cost";
import { unpricedWords } from "./cost-words";
import styles from "./spend-runs.module.css";
import tableStyles from "./usage-table.module.css";

const number = new Intl.NumberFormat("en");

interface SpendRunsProps {
  /** What they are the runs of. */
  readonly title: string;
  readonly filter: UsageFilter;
  readonly onClose: () => void;
}

/** The runs behind a row, dearest first of those that were read. */
export function SpendRuns({ title, filter, onClose }: SpendRunsProps): ReactNode {
  const { rows, problem, isLoading, hasMore, more, refresh } = useSpendRuns(filter);
  const sorted = rows?.toSorted((a, b) => b.costUsd - a.costUsd);
  return (
    <section className={styles.runs} aria-label={`Runs of ${title}`}>
      <header className={styles.head}>
        <h2>Runs of {title}</h2>
        <a href={runsCsvPath(filter)} download className={`${buttonStyles.button} ${buttonStyles.plain}`}>
          CSV of these runs
        </a>
        <IconButton icon="close" label="Close the runs" onClick={onClose} />
      </header>
      {isLoading && <Skeleton label="Loading runs" lines={4} />}
      {problem && <ListProblem message={problem.message} onRetry={refresh} />}
      {sorted && (
        <table className={tableStyles.table}>
          <thead>
            <tr>
              <th scope="col">Run</th>
              <th scope="col">When</th>
              <th scope="col" className={styles.wide}>
                Calls
              </th>
              <th scope="col" className={styles.wide}>
                Tokens
              </th>
              <th scope="col">Cost</th>
            </tr>
          </thead>
          <tbody>
            {sorted.map((row) => (
              <Row key={row.key} row={row} />
            ))}
          </tbody>
        </table>
      )}
      {hasMore && <Button onClick={more}>Show more</Button>}
    </section>
  );
}

function Row({ row }: { readonly row: RunRow }): ReactNode {
  const { run, calls, inputTokens, outputTokens, costUsd, unpriced } = row;
  return (
    <tr>
      <th scope="row" title={row.key}>
        <RunName run={run} />
      </th>
      <td>{run ? <RelativeTime at={run.createdAt} /> : "Not known"}</td>
      <td className={styles.wide}>{number.format(calls)}</td>
      <td className={styles.wide}>{number.format(inputTokens + outputTokens)}</td>
      <td>
        <Cost
          usage={{ costUsd, isComplete: unpriced === 0 }}
          why={`Of these calls ${unpricedWords(unpriced)}.`}
        />
      </td>
    </tr>
  );
}

function RunName({ run }: Pick<RunRow, "run">): ReactNode {
  const { byId } = useAgentCatalog();
  if (!run) return "A run that is no longer listed";
  const { agentId, threadName } = run;
  const agent = byId.get(agentId)?.name ?? agentId;
  if (threadName === null) return `${agent}, in a thread of another person`;
  return (
    <Link href={threadPath(agentId, threadName, sharedOf(run))} className={styles.link}>
      {agent}, open thread
    </Link>
  );
}
