import type { ReactNode } from "react";
import styles from "./problem.module.css";

interface ProblemProps {
  /** For the control that it is about. */
  readonly id?: string;
  readonly className?: string | undefined;
  readonly children: ReactNode;
}

/** What went wrong, or is wrong with what was filled in. Always there, so that it is heard when it comes; seen only then. */
export function Problem({ id, className, children }: ProblemProps): ReactNode {
  return (
    <p id={id} className={[styles.problem, className].filter(Boolean).join(" ")} role="alert">
      {children}
    </p>
  );
}
