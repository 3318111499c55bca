"use client";

import { type ReactNode, useRef, useState } from "react";
import { Field, Input, NumberInput, Select } from "../agent-ui/primitives/field";
import { Skeleton } from "../agent-ui/primitives/status";
import { RelativeTime } from "../agent-ui/primitives/time";
import { formatTime } from "./cron-text";
import {
  type ClockTime,
  dependsOnTimeZone,
  formatClock,
  planOf,
  readClock,
  type SchedulePlan,
  scheduleOf,
  WEEKDAYS,
} from "./schedule";
import styles from "./schedule-field.module.css";

interface ScheduleFieldProps {
  readonly schedule: string;
  readonly onChange: (schedule: string) => void;
  readonly problem: string | undefined;
}

type Kind = SchedulePlan["kind"];

const KINDS: readonly { readonly kind: Kind; readonly label: string }[] = [
  { kind: "interval", label: "Every …" },
  { kind: "hourly", label: "Every hour at …" },
  { kind: "daily", label: "Every day at …" },
  { kind: "weekdays", label: "On weekdays at …" },
  { kind: "weekly", label: "Once a week" },
  { kind: "monthly", label: "Once a month" },
  { kind: "custom", label: "Cron expression" },
];

/** Edits a schedule in plain words and in cron syntax: two views of one text, always in sync. */
export function ScheduleField({ schedule, onChange, problem }: ScheduleFieldProps): ReactNode {
  const [isCustom, setCustom] = useState(false);
  const syntax = useRef<HTMLInputElement>(null);
  const plan = planOf(schedule);
  const kind: Kind = isCustom ? "custom" : plan.kind;

  function choose(next: Kind): void {
    setCustom(next === "custom");
    if (next === "custom") syntax.current?.focus();
    else onChange(scheduleOf(beginning(next, plan)));
  }

  return (
    <div className={styles.schedule}>
      <div className={styles.words}>
        <Field label="Runs">
          <Select
            value={kind}
            onChange={(event) => choose(KINDS[event.target.selectedIndex]?.kind ?? "custom")}
          >
            {KINDS.map((option) => (
              <option key={option.kind} value={option.kind}>
                {option.label}
              </option>
            ))}
          </Select>
        </Field>
        {kind !== "custom" && (
          <div className={styles.parts}>
            <PlanParts plan={plan} onChange={(next) => onChange(scheduleOf(next))} />
          </div>
        )}
      </div>
      <Field
        label="What the service understands"
        hint="Minute, hour, day of month, month, weekday; seconds may come first. Or: every 10 s."
        problem={problem}
      >
        <Input
          ref={syntax}
          className={styles.syntax}
          value={schedule}
          spellCheck={false}
          autoComplete="off"
          onChange={(event) => {
            setCustom(false);
            onChange(event.target.value);
          }}
        />
      </Field>
    </div>
  );
}

interface PlanPartsProps {
  readonly plan: SchedulePlan;
  readonly onChange: (plan: SchedulePlan) => void;
}

function PlanParts({ plan, onChange }: PlanPartsProps): ReactNode {
  switch (plan.kind) {
    case "interval":
      return (
        <>
          <NumberInput
            label="How many"
            min={1}
            max={9_999}
            className={styles.number}
            value={plan.count}
            onChange={(count) => onChange({ ...plan, count })}
          />
          <Select
            aria-label="Unit"
            value={plan.unit}
            onChange={(event) => onChange({ ...plan, unit: UNITS[event.target.selectedIndex]?.unit ?? "s" })}
          >
            {UNITS.map(({ unit, label }) => (
              <option key={unit} value={unit}>
                {label}
              </option>
            ))}
          </Select>
        </>
      );
    case "hourly":
      return (
        <>
          <NumberInput
            label="Minutes past the hour"
            min={0}
            max={59}
            className={styles.number}
            value={plan.minute}
            onChange={(minute) => onChange({ ...plan, minute })}
          />
          <span className={styles.word}>minutes past</span>
        </>
      );
    case "daily":
    case "weekdays":
      return <TimeInput time={plan.time} onChange={(time) => onChange({ ...plan, time })} />;
    case "weekly":
      return (
        <>
          <Select
            aria-label="Day of the week"
            value={plan.day}
            onChange={(event) => onChange({ ...plan, day: Number(event.target.value) })}
          >
            {WEEKDAYS.map((name, day) => (
              <option key={name} value={day}>
                {name}
              </option>
            ))}
          </Select>
          <TimeInput time={plan.time} onChange={(time) => onChange({ ...plan, time })} />
        </>
      );
    case "monthly":
      return (
        <>
          <span className={styles.word}>on day</span>
          <NumberInput
            label="Day of the month"
            min={1}
            max={31}
            className={styles.number}
            value={plan.dayOfMonth}
            onChange={(dayOfMonth) => onChange({ ...plan, dayOfMonth })}
          />
          <TimeInput time={plan.time} onChange={(time) => onChange({ ...plan, time })} />
        </>
      );
    case "custom":
      return null;
  }
}

function TimeInput(props: {
  readonly time: ClockTime;
  readonly onChange: (time: ClockTime) => void;
}): ReactNode {
  return (
    <Input
      type="time"
      aria-label="Time of day"
      className={styles.clock}
      value={formatClock(props.time)}
      onChange={(event) => {
        const time = readClock(event.target.value);
        if (time) props.onChange(time);
      }}
    />
  );
}

const UNITS = [
  { unit: "s", label: "seconds" },
  { unit: "min", label: "minutes" },
  { unit: "h", label: "hours" },
  { unit: "d", label: "days" },
] as const;

/** Initial plan of a kind. Retains the time of day where the plan before had one. */
function beginning(kind: Exclude<Kind, "custom">, before: SchedulePlan): SchedulePlan {
  const time = "time" in before ? before.time : { hour: 9, minute: 0 };
  switch (kind) {
    case "interval":
      return { kind, count: 10, unit: "s" };
    case "hourly":
      return { kind, minute: 0 };
    case "daily":
    case "weekdays":
      return { kind, time };
    case "weekly":
      return { kind, day: 1, time };
    case "monthly":
      return { kind, dayOfMonth: 1, time };
  }
}

interface NextTimesProps {
  readonly times: readonly string[] | undefined;
  readonly schedule: string;
  readonly timeZone: string;
  readonly isWrong: boolean;
}

/** Previews the next times of a schedule, the surest check of its meaning. */
export function NextTimes({ times, schedule, timeZone, isWrong }: NextTimesProps): ReactNode {
  const withSeconds = !dependsOnTimeZone(schedule) || schedule.trim().split(/\s+/).length > 5;
  return (
    <section className={styles.next} aria-label="The next five times">
      <h3 className={styles.title}>Next five times</h3>
      {isWrong && <p className={styles.none}>Shown when the schedule is valid.</p>}
      {!isWrong && times === undefined && <Skeleton label="Asking for the next times" lines={5} />}
      {!isWrong && times?.length === 0 && <p className={styles.none}>It would never run.</p>}
      {!isWrong && times && times.length > 0 && (
        <ol className={styles.times}>
          {times.map((time) => (
            <li key={time} className={styles.time}>
              <span>{formatTime(time, timeZone, withSeconds)}</span>
              <RelativeTime at={time} className={styles.relative ?? ""} />
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}
