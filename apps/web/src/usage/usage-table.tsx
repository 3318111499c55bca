import type { ReactNode } from "react";
import type { UsageRow } from "../service/queries/usage";
import { Cost } from "./cost";
import { unpricedWords } from "./cost-words";
import styles from "./usage-table.module.css";

const number = new Intl.NumberFormat("en");

interface UsageTableProps {
  /** What the first column is. */
  readonly label: string;
  readonly rows: readonly UsageRow[];
  readonly nameOf: (key: string) => string;
  /** Whether the runs behind a row can be listed. */
  readonly canOpen: (key: string) => boolean;
  /** The row whose runs are listed. */
  readonly openKey: string | undefined;
  readonly onOpen: (key: string) => void;
}

/** One row a group, with a bar that compares them. */
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
                why={`Of these calls ${unpricedWords(unpriced)}.`}
              />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
