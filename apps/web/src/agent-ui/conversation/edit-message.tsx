"use client";

import type { ThreadMessage } from "@throughline/agent-client";
import { useAgentClient, useThreadHandle } from "@throughline/agent-react";
import { useRouter } from "next/navigation";
import { type FormEvent, type ReactNode, useState } from "react";
import { useForkBefore } from "../../data/checkpoints";
import { sharedOf, threadPath } from "../../shell/routes";
import { Button } from "../primitives/button";
import { Field, TextArea } from "../primitives/field";
import styles from "./edit-message.module.css";

interface EditMessageProps {
  readonly message: ThreadMessage;
  readonly text: string;
  readonly onDone: () => void;
}

/** Sends an edited message in a fork of the thread that ends before it. This thread is unchanged. */
export function EditMessage({ message, text, onDone }: EditMessageProps): ReactNode {
  const handle = useThreadHandle();
  const { agentId, visibility } = handle;
  const client = useAgentClient();
  const forkBefore = useForkBefore(handle);
  const router = useRouter();
  const [draft, setDraft] = useState(text);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();

  async function fork(event: FormEvent): Promise<void> {
    event.preventDefault();
    setBusy(true);
    setProblem(undefined);
    try {
      const newThread = await forkBefore(message.id);
      const files =
        typeof message.content === "string" ? [] : message.content.filter(({ type }) => type !== "text");
      const words = draft.trim();
      void client
        .thread(agentId, newThread, visibility)
        .send(files.length === 0 ? words : [{ type: "text", text: words }, ...files]);
      router.push(threadPath(agentId, newThread, sharedOf(handle)));
    } catch (error) {
      setBusy(false);
      setProblem(error instanceof Error ? error.message : String(error));
    }
  }

  return (
    <form className={styles.form} onSubmit={fork}>
      <Field
        label="Your message"
        hint="It is sent in a new thread that begins just before it. This thread stays as it is."
        problem={problem}
      >
        <TextArea
          value={draft}
          rows={Math.min(10, draft.split("\n").length + 1)}
          onChange={(event) => setDraft(event.target.value)}
          onKeyDown={(event) => event.key === "Escape" && onDone()}
          autoFocus
        />
      </Field>
      <div className={styles.actions}>
        <Button type="submit" look="primary" disabled={isBusy || draft.trim() === ""}>
          {isBusy ? "Forking…" : "Send in a new thread"}
        </Button>
        <Button look="quiet" onClick={onDone}>
          Cancel
        </Button>
      </div>
    </form>
  );
}
