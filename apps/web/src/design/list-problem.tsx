import type { ReactNode } from "react";
import { Button } from "./button";
import styles from "./list-problem.module.css";

/** What a page could not get, and the way to try again. */
export function ListProblem(props: { readonly message: string; readonly onRetry: () => void }): ReactNode {
  return (
    <div className={styles.problem} role="alert">
      <p>{props.message}</p>
      <Button onClick={props.onRetry}>Try again</Button>
    </div>
  );
}
