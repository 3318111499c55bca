"use client";

import type { ReactNode } from "react";
import { isGeneratedName } from "../agents/is-generated-name";
import { titleOf } from "../agents/thread-row";
import { Field, Input, Select } from "../design/field";
import type { ThreadRow } from "../service/queries/threads";
import type { CronDraft, CronProblems } from "./cron-wish";
import styles from "./task-fields.module.css";

interface ThreadFieldProps {
  readonly draft: CronDraft & { readonly threadName: string };
  readonly threads: readonly ThreadRow[];
  readonly problems: CronProblems;
  readonly onChange: (part: Partial<CronDraft>) => void;
}

/** What a thread that does not exist yet is called by default. */
export const NEW_THREAD_NAME = "scheduled";

/** Where a tick runs. */
export function ThreadField({ draft, threads, problems, onChange }: ThreadFieldProps): ReactNode {
  const known = threads.findIndex(({ threadName }) => threadName === draft.threadName);
  const isNew = draft.place === "one" && known < 0;
  const value = draft.place === "each" ? "each" : isNew ? "new" : String(known);

  function choose(next: string): void {
    if (next === "each") onChange({ place: "each" });
    else if (next === "new") onChange({ place: "one", threadName: unused(NEW_THREAD_NAME, threads) });
    else onChange({ place: "one", threadName: threads[Number(next)]?.threadName });
  }

  return (
    <div className={isNew ? styles.command : undefined}>
      <Field
        label="Thread"
        hint={draft.place === "one" ? "The agent remembers what it did there before." : undefined}
      >
        <Select value={value} onChange={(event) => choose(event.target.value)}>
          <option value="new">One new thread</option>
          <option value="each">A new thread each time</option>
          {threads.length > 0 && (
            <optgroup label="A thread you have">
              {threads.map((thread, at) => (
                <option key={thread.threadName} value={at}>
                  {optionWords(thread)}
                </option>
              ))}
            </optgroup>
          )}
        </Select>
      </Field>
      {isNew && (
        <Field label="Its name" problem={problems.threadName}>
          <Input
            value={draft.threadName}
            maxLength={256}
            onChange={(event) => onChange({ threadName: event.target.value })}
          />
        </Field>
      )}
    </div>
  );
}

/** A name that a client made says nothing to a person; when it was last used does. */
function optionWords(thread: ThreadRow): string {
  if (thread.title !== null || !isGeneratedName(thread.threadName)) return titleOf(thread);
  return `Untitled, last used ${new Date(thread.lastActivityAt).toLocaleString("en", { dateStyle: "medium", timeStyle: "short" })}`;
}

function unused(name: string, threads: readonly ThreadRow[]): string {
  const taken = new Set(threads.map(({ threadName }) => threadName));
  for (let number = 2; ; number += 1) {
    const free = number === 2 ? name : `${name} ${number - 1}`;
    if (!taken.has(free)) return free;
  }
}
