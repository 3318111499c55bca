import type { ReactNode } from "react";
import styles from "./offline-model.module.css";

/** As `docs/billing.md` has them. */
const VARIABLES = "LITELLM_BASE_URL=http://127.0.0.1:4000\nLITELLM_API_KEY=sk-…";

/** How a real model comes to answer in place of the script. */
export function ConnectModel(): ReactNode {
  return (
    <div className={styles.connect}>
      <p>
        Answers come from a script, so they fit the suggested questions only. They need no key and cost
        nothing.
      </p>
      <p>To connect a real model, run a LiteLLM proxy and start the service again with:</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: lines that are too long for a phone scroll by keyboard */}
      <pre className={styles.variables} tabIndex={0}>
        {VARIABLES}
      </pre>
    </div>
  );
}
