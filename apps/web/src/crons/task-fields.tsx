"use client";

import type { ReactNode } from "react";
import { Field, Select, TextArea } from "../design/field";
import type { CatalogAgent } from "../service/queries/agents";
import type { ThreadRow } from "../service/queries/threads";
import type { CronDraft, CronProblems } from "./cron-wish";
import styles from "./task-fields.module.css";
import { ThreadField } from "./thread-field";

interface TaskFieldsProps {
  readonly draft: CronDraft & { readonly threadName: string };
  readonly threads: readonly ThreadRow[];
  readonly agents: readonly CatalogAgent[];
  readonly problems: CronProblems;
  readonly onChange: (part: Partial<CronDraft>) => void;
}

/** Whom a tick asks, what it says, and in which thread. */
export function TaskFields({ draft, threads, agents, problems, onChange }: TaskFieldsProps): ReactNode {
  const agent = agents.find(({ id }) => id === draft.agent);
  const commands = agent?.commands ?? [];

  function chooseAgent(id: string): void {
    const next = agents.find((one) => one.id === id);
    const keepsCommand = next?.commands.includes(draft.command) ?? false;
    onChange({
      agent: id,
      threadName: undefined,
      ...(!keepsCommand && { does: "message", command: "", args: "" }),
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
