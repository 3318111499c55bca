"use client";
import { type FormEvent, type ReactNode, useState } from "react";
import { Button } from "../agent-ui/primitives/button";
import { Field, Input, Select } from "../agent-ui/primitives/field";
import type { CatalogAgent } from "../data/agents";
import { type Cron, type CronRequest, useCronPreview } from "../data/crons";
import { useDebounced } from "../data/query";
import { useThreadSearch } from "../data/thread-lists";
import { type CronDraft, type CronProblems, toCronRequest } from "./cron-draft";
import styles from "./cron-form.module.css";
import { dependsOnTimeZone } from "./schedule";
import { NextTimes, ScheduleField } from "./schedule-field";
import { NEW_THREAD_NAME, TaskFields } from "./task-fields";

interface CronFormProps {
  readonly agents: readonly CatalogAgent[];
  readonly initial: CronDraft;
  readonly before?: Cron;
  readonly action: string;
  /** An error that it throws is shown. */
  readonly onSave: (request: CronRequest) => Promise<void>;
  readonly onCancel: () => void;
}

const DEBOUNCE_MS = 250;

export function CronForm({ agents, initial, before, action, onSave, onCancel }: CronFormProps): ReactNode {
  const [draft, setDraft] = useState(initial);
  const [problems, setProblems] = useState<CronProblems>({});
  const [refusal, setRefusal] = useState<string>();
  const [isSaving, setSaving] = useState(false);
  const debounced = useDebounced(`${draft.timeZone}\n${draft.schedule.trim()}`, DEBOUNCE_MS);
  const [zone = "", schedule = ""] = debounced.split("\n");
  const preview = useCronPreview(schedule, zone);
  const threads =
    useThreadSearch(draft.agent, draft.agent === "" ? undefined : { limit: 30 }).value?.threads ?? [];
  // The commands that an agent accepts depend on its thread's history, so the thread used last is suggested.
  const takesCommands = (agents.find(({ id }) => id === draft.agent)?.commands.length ?? 0) > 0;
  const suggested = (takesCommands ? threads[0]?.threadName : undefined) ?? NEW_THREAD_NAME;
  const complete = { ...draft, threadName: draft.threadName ?? suggested };
  const wrong = preview.problem && wrongField(preview.problem.message);

  function change(part: Partial<CronDraft>): void {
    setDraft((now) => ({ ...now, ...part }));
    setProblems((now) => Object.fromEntries(Object.entries(now).filter(([name]) => !(name in part))));
  }

  async function save(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    const form = event.currentTarget;
    const outcome = toCronRequest(complete, before);
    setRefusal(undefined);
    if (!outcome.isReady) {
      setProblems(outcome.problems);
      // After rendering: the first wrong field is found by its `aria-invalid`.
      requestAnimationFrame(() => form.querySelector<HTMLElement>("[aria-invalid=true]")?.focus());
      return;
    }
    setSaving(true);
    try {
      await onSave(outcome.request);
    } catch (error) {
      setRefusal(error instanceof Error ? error.message : String(error));
      setSaving(false);
    }
  }

  return (
    <form className={styles.form} onSubmit={(event) => void save(event)} noValidate>
      <Part title="When">
        <div className={styles.when}>
          <div className={styles.fields}>
            <ScheduleField
              schedule={draft.schedule}
              onChange={(next) => change({ schedule: next })}
              problem={problems.schedule ?? (wrong?.field === "schedule" ? wrong.words : undefined)}
            />
            {dependsOnTimeZone(draft.schedule) && (
              <Field label="Time zone" problem={wrong?.field === "timeZone" ? wrong.words : undefined}>
                <Input
                  list="time-zones"
                  value={draft.timeZone}
                  spellCheck={false}
                  onChange={(event) => change({ timeZone: event.target.value.trim() })}
                />
                <datalist id="time-zones">
                  {["UTC", ...Intl.supportedValuesOf("timeZone")].map((name) => (
                    <option key={name} value={name} />
                  ))}
                </datalist>
              </Field>
            )}
          </div>
          <NextTimes
            times={preview.value}
            schedule={schedule}
            timeZone={zone}
            isWrong={wrong !== undefined}
          />
        </div>
      </Part>
      <Part title="What">
        <TaskFields
          draft={complete}
          threads={threads}
          agents={agents}
          problems={problems}
          onChange={change}
        />
      </Part>
      <Part title="If it can't run on time">
        <div className={styles.pair}>
          <Field label="While the thread is busy">
            <Select
              value={draft.overlap}
              onChange={(event) => change({ overlap: event.target.value === "enqueue" ? "enqueue" : "skip" })}
            >
              <option value="skip">Skip this run</option>
              <option value="enqueue">Wait, then run</option>
            </Select>
          </Field>
          <Field label="After the service was down">
            <Select
              value={draft.missed}
              onChange={(event) =>
                change({ missed: event.target.value === "run_once" ? "run_once" : "skip" })
              }
            >
              <option value="skip">Skip missed runs</option>
              <option value="run_once">Run once for all of them</option>
            </Select>
          </Field>
        </div>
      </Part>
      <footer className={styles.actions}>
        <p className={styles.refusal} role="alert">
          {refusal}
        </p>
        <Button onClick={onCancel}>Cancel</Button>
        <Button look="primary" type="submit" disabled={isSaving}>
          {action}
        </Button>
      </footer>
    </form>
  );
}

function Part({ title, children }: { readonly title: string; readonly children: ReactNode }): ReactNode {
  return (
    <section className={styles.part}>
      <h2 className={styles.title}>{title}</h2>
      {children}
    </section>
  );
}

/** Splits a refusal into field and text. The service names the field first: `schedule: is not …`. */
function wrongField(message: string): { readonly field: "schedule" | "timeZone"; readonly words: string } {
  const named = /^(schedule|timeZone): (.*)$/s.exec(message);
  return {
    field: named?.[1] === "timeZone" ? "timeZone" : "schedule",
    words: named ? `This ${named[2]}.`.replace(/\.\.$/, ".") : message,
  };
}
