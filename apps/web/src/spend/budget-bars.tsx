import type { ReactNode } from "react";
import { ProgressBar } from "../agent-ui/primitives/progress-bar";
import { RelativeTime } from "../agent-ui/primitives/time";
import type { Budget } from "../data/usage";
import styles from "./budget-bars.module.css";
import { formatUsd } from "./cost";

const WHOSE: Readonly<Record<Budget["of"], string>> = { account: "The account", person: "You" };
const WHEN: Readonly<Record<Budget["period"], string>> = { day: "today", month: "this month" };

/** Bars of how much of each budget is spent, with a warning near and beyond the limit. */
export function BudgetBars({ budgets }: { readonly budgets: readonly Budget[] }): ReactNode {
  if (budgets.length === 0) return null;
  return (
    <ul className={styles.budgets} aria-label="Budgets">
      {budgets.map((budget) => (
        <BudgetBar key={`${budget.of} ${budget.period}`} budget={budget} />
      ))}
    </ul>
  );
}

function BudgetBar({ budget }: { readonly budget: Budget }): ReactNode {
  const { of, period, spentUsd, limitUsd, share, standing, renewedAt } = budget;
  const label = `${WHOSE[of]}, ${WHEN[period]}`;
  return (
    <li className={styles.budget} data-standing={standing}>
      <div className={styles.words}>
        <span>{label}</span>
        <span className={styles.amount}>
          {formatUsd(spentUsd)} of {formatUsd(limitUsd)}
        </span>
      </div>
      <ProgressBar share={Math.min(1, share)} label={`Budget: ${label}`} className={styles.bar} />
      {standing !== "within" && (
        <p className={styles.warning} role="status">
          {standing === "near"
            ? `${Math.floor(share * 100)} % is spent.`
            : "It is used up: model calls are refused until it is renewed."}{" "}
          Renewed <RelativeTime at={renewedAt} />.
        </p>
      )}
    </li>
  );
}
