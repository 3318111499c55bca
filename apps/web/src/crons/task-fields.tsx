"use client";

import type { ReactNode } from "react";
import { Field, Input, Select, TextArea } from "../agent-ui/primitives/field";
import { isGeneratedName, titleOf } from "../agents/thread-pages";
import type { CatalogAgent } from "../data/agents";
import type { ThreadRow } from "../data/thread-lists";
import type { CronDraft, CronProblems } from "./cron-draft";
import styles from "./task-fields.module.css";

interface TaskFieldsProps {
  readonly draft: CronDraft & { readonly threadName: string };
  readonly threads: readonly ThreadRow[];
  readonly agents: readonly CatalogAgent[];
  readonly problems: CronProblems;
  readonly onChange: (part: Partial<CronDraft>) => void;
}

/** Fields for the agent, the input and the thread of a tick. */
export function TaskFields({ draft, threads, agents, problems, onChange }: TaskFieldsProps): ReactNode {
  const agent = agents.find(({ id }) => id === draft.agent);
  const commands = agent?.commands ?? [];

  function chooseAgent(id: string): void {
    const next = agents.find((one) => one.id === id);
    const retainsCommand = next?.commands.includes(draft.command) ?? false;
    onChange({
      agent: id,
      threadName: undefined,
      ...(!retainsCommand && { does: "message", command: "", args: "" }),
    });
  }

  return (
    <div className={styles.task}>
      <Field label="Agent" hint={agent?.description} problem={problems.agent}>
        <Select value={draft.agent} onChange={(event) => chooseAgent(event.target.value)}>
          {agent === undefined && <option value={draft.agent}>{draft.agent || "Choose one"}</option>}
          {agents.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </Select>
      </Field>
      {commands.length > 0 && (
        <fieldset className={styles.choices}>
          <legend className={styles.legend}>Input</legend>
          <Choice
            name="does"
            label="A message"
            isChosen={draft.does === "message"}
            onChoose={() => onChange({ does: "message" })}
          />
          <Choice
            name="does"
            label="A command"
            isChosen={draft.does === "command"}
            onChoose={() => onChange({ does: "command", command: draft.command || (commands[0] ?? "") })}
          />
        </fieldset>
      )}
      {draft.does === "message" ? (
        <Field
          label="Message"
          hint="Said to the agent each time, as if you had written it."
          problem={problems.message}
        >
          <TextArea
            value={draft.message}
            rows={3}
            onChange={(event) => onChange({ message: event.target.value })}
          />
        </Field>
      ) : (
        <div className={styles.command}>
          <Field label="Command" problem={problems.command}>
            <Select value={draft.command} onChange={(event) => onChange({ command: event.target.value })}>
              {!commands.includes(draft.command) && (
                <option value={draft.command}>{draft.command || "Choose one"}</option>
              )}
              {commands.map((name) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </Select>
          </Field>
          <Field label="Arguments" hint="A JSON object. May be empty." problem={problems.args}>
            <TextArea
              className={styles.json}
              value={draft.args}
              rows={2}
              spellCheck={false}
              onChange={(event) => onChange({ args: event.target.value })}
            />
          </Field>
        </div>
      )}
      <ThreadField draft={draft} threads={threads} problems={problems} onChange={onChange} />
    </div>
  );
}

interface ChoiceProps {
  readonly name: string;
  readonly label: string;
  readonly isChosen: boolean;
  readonly onChoose: () => void;
}

function Choice({ name, label, isChosen, onChoose }: ChoiceProps): ReactNode {
  return (
    <label className={styles.choice}>
      <input type="radio" name={name} checked={isChosen} onChange={onChoose} />
      {label}
    </label>
  );
}

interface ThreadFieldProps {
  readonly draft: CronDraft & { readonly threadName: string };
  readonly threads: readonly ThreadRow[];
  readonly problems: CronProblems;
  readonly onChange: (part: Partial<CronDraft>) => void;
}

/** Default name of a new thread. */
export const NEW_THREAD_NAME = "scheduled";

/** Chooses the thread in which ticks run. */
function ThreadField({ draft, threads, problems, onChange }: ThreadFieldProps): ReactNode {
  const known = threads.findIndex(({ threadName }) => threadName === draft.threadName);
  const isNew = draft.threadMode === "one" && known < 0;
  const value = draft.threadMode === "each" ? "each" : isNew ? "new" : String(known);

  function choose(next: string): void {
    if (next === "each") onChange({ threadMode: "each" });
    else if (next === "new") onChange({ threadMode: "one", threadName: unused(NEW_THREAD_NAME, threads) });
    else onChange({ threadMode: "one", threadName: threads[Number(next)]?.threadName });
  }

  return (
    <div className={isNew ? styles.command : undefined}>
      <Field
        label="Thread"
        hint={draft.threadMode === "one" ? "The agent remembers what it did there before." : undefined}
      >
        <Select value={value} onChange={(event) => choose(event.target.value)}>
          <option value="new">One new thread</option>
          <option value="each">A new thread each time</option>
          {threads.length > 0 && (
            <optgroup label="A thread you have">
              {threads.map((thread, at) => (
                <option key={thread.threadName} value={at}>
                  {optionText(thread)}
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

/** Label of a thread; one with a generated name is identified by its last use. */
function optionText(thread: ThreadRow): string {
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
