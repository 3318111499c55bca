"use client";

import Link from "next/link";
import type { ReactNode } from "react";
import { Button, IconButton } from "../agent-ui/primitives/button";
import buttonStyles from "../agent-ui/primitives/button.module.css";
import { ErrorState, Skeleton } from "../agent-ui/primitives/status";
import { RelativeTime } from "../agent-ui/primitives/time";
import { useAgentCatalog } from "../data/agents";
import { type RunRow, runsCsvPath, type UsageFilter, type UsageRow, useSpendRuns } from "../data/usage";
import { sharedOf, threadPath } from "../shell/routes";
import { Cost, unpricedText } from "./cost";
import styles from "./usage-table.module.css";

const number = new Intl.NumberFormat("en");

interface UsageTableProps {
  /** Heading of the first column. */
  readonly label: string;
  readonly rows: readonly UsageRow[];
  readonly nameOf: (key: string) => string;
  /** Whether the runs behind a row can be listed. */
  readonly canOpen: (key: string) => boolean;
  /** The row whose runs are listed. */
  readonly openKey: string | undefined;
  readonly onOpen: (key: string) => void;
}

/** Table with one row per group and a bar that compares them. */
export function UsageTable({ label, rows, nameOf, canOpen, openKey, onOpen }: UsageTableProps): ReactNode {
  const most = Math.max(...rows.map(({ costUsd }) => costUsd), Number.MIN_VALUE);
  return (
    <table className={styles.table}>
      <thead>
        <tr>
          <th scope="col">{label}</th>
          <th scope="col" className={styles.share}>
            <span className={styles.unseen}>Share</span>
          </th>
          <th scope="col">Calls</th>
          <th scope="col">Tokens</th>
          <th scope="col">Cost</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ key, calls, inputTokens, outputTokens, costUsd, unpriced }) => (
          <tr key={key}>
            <th scope="row" title={key}>
              {canOpen(key) ? (
                <button
                  type="button"
                  className={styles.open}
                  title={`Show the runs of ${nameOf(key)}`}
                  aria-expanded={key === openKey}
                  onClick={() => onOpen(key)}
                >
                  {nameOf(key)}
                </button>
              ) : (
                nameOf(key)
              )}
            </th>
            <td className={styles.share}>
              <span className={styles.bar} style={{ width: `${(100 * costUsd) / most}%` }} />
            </td>
            <td>{number.format(calls)}</td>
            <td title={`${number.format(inputTokens)} in, ${number.format(outputTokens)} out`}>
              {number.format(inputTokens + outputTokens)}
            </td>
            <td>
              <Cost
                usage={{ costUsd, isComplete: unpriced === 0 }}
                why={`Of these calls ${unpricedText(unpriced)}.`}
              />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const count = new Intl.NumberFormat("en");

interface SpendRunsProps {
  /** Name of the row that the runs belong to. */
  readonly title: string;
  readonly filter: UsageFilter;
  readonly onClose: () => void;
}

/** Runs behind a row; those that were read are sorted dearest first. */
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
      {problem && <ErrorState message={problem.message} onRetry={refresh} />}
      {sorted && (
        <table className={styles.table}>
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
      <td className={styles.wide}>{count.format(calls)}</td>
      <td className={styles.wide}>{count.format(inputTokens + outputTokens)}</td>
      <td>
        <Cost
          usage={{ costUsd, isComplete: unpriced === 0 }}
          why={`Of these calls ${unpricedText(unpriced)}.`}
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
