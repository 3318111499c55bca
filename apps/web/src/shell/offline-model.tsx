"use client";

import { type ReactNode, useId, useRef, useState } from "react";
import { Icon } from "../agent-ui/primitives/icon";
import { positionMenu } from "../agent-ui/primitives/menu";
import styles from "./offline-model.module.css";

const WORDS = "Offline scripted model";

interface OfflineModelProps {
  /**
   * Shows only the icon on a phone: in a header it loads after the page, and its text would wrap the header into two lines and
   * move everything below.
   */
  readonly isCompact?: boolean;
}

/** Badge that no model is connected, with instructions to connect one. */
export function OfflineModel({ isCompact = false }: OfflineModelProps): ReactNode {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button
        ref={button}
        type="button"
        className={styles.badge}
        data-compact={isCompact}
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        aria-controls={id}
        popoverTarget={id}
        title={WORDS}
      >
        <Icon name="model" size={14} />
        <span className={styles.words}>{WORDS}</span>
      </button>
      <div
        id={id}
        popover="auto"
        role="dialog"
        aria-label={WORDS}
        className={styles.popover}
        onToggle={(event) => {
          const opens = event.newState === "open";
          setOpen(opens);
          if (opens && button.current) positionMenu(button.current, event.currentTarget);
        }}
      >
        <ConnectModel />
      </div>
    </>
  );
}

/** The variables of `docs/billing.md`. */
const VARIABLES = "LITELLM_BASE_URL=http://127.0.0.1:4000\nLITELLM_API_KEY=sk-…";

/** Instructions to replace the script with a real model. */
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
