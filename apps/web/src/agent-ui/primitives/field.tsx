"use client";

import { type ComponentProps, createContext, type ReactNode, useContext, useId, useState } from "react";
import styles from "./field.module.css";

interface FieldProps {
  readonly label: string;
  /** Describes the expected input; always shown. */
  readonly hint?: ReactNode;
  /** An error of the input, and how to correct it. */
  readonly problem?: string | undefined;
  /** Shows the label to screen readers only, where the layout makes it obvious. */
  readonly isLabelHidden?: boolean;
  readonly className?: string;
  /** One `Input`, `TextArea` or `Select`. */
  readonly children: ReactNode;
}

interface Wiring {
  readonly id?: string;
  readonly "aria-describedby"?: string;
  readonly "aria-invalid"?: boolean;
}

const WiringContext = createContext<Wiring>({});

/** A control with its label, hint and problem, connected by ids. */
export function Field({ label, hint, problem, isLabelHidden, className, children }: FieldProps): ReactNode {
  const id = useId();
  const described = [hint !== undefined && `${id}-hint`, `${id}-problem`].filter(Boolean).join(" ");
  const wiring = {
    id,
    "aria-describedby": described,
    ...(problem !== undefined && { "aria-invalid": true }),
  };
  return (
    <div className={[styles.field, className].filter(Boolean).join(" ")}>
      <label htmlFor={id} className={isLabelHidden ? "visually-hidden" : styles.label}>
        {label}
      </label>
      <WiringContext value={wiring}>{children}</WiringContext>
      {hint !== undefined && (
        <p id={`${id}-hint`} className={styles.hint}>
          {hint}
        </p>
      )}
      <Problem id={`${id}-problem`}>{problem}</Problem>
    </div>
  );
}

export function Input({ className, ...rest }: ComponentProps<"input">): ReactNode {
  return <input {...useContext(WiringContext)} className={classOf(className)} {...rest} />;
}

interface TextAreaProps extends ComponentProps<"textarea"> {
  /** The text is code: spell check, capitalization and correction are off. */
  readonly isCode?: boolean;
}

export function TextArea({ className, isCode = false, ...rest }: TextAreaProps): ReactNode {
  const look = classOf(className, styles.area, isCode ? styles.code : undefined);
  const asWritten = isCode && { spellCheck: false, autoCapitalize: "off", autoCorrect: "off" };
  return <textarea {...useContext(WiringContext)} className={look} {...asWritten} {...rest} />;
}

export function Select({ className, ...rest }: ComponentProps<"select">): ReactNode {
  return <select {...useContext(WiringContext)} className={classOf(className, styles.select)} {...rest} />;
}

function classOf(...more: readonly (string | undefined)[]): string {
  return [styles.control, ...more].filter(Boolean).join(" ");
}

interface ProblemProps {
  /** Referenced by the `aria-describedby` of the control. */
  readonly id?: string;
  readonly className?: string | undefined;
  readonly children: ReactNode;
}

/** An error of an action or an input. Always mounted, so that screen readers announce a message; visible only with one. */
export function Problem({ id, className, children }: ProblemProps): ReactNode {
  return (
    <p id={id} className={[styles.problem, className].filter(Boolean).join(" ")} role="alert">
      {children}
    </p>
  );
}

interface NumberInputProps {
  readonly label: string;
  readonly value: number;
  readonly min: number;
  readonly max: number;
  readonly className?: string | undefined;
  /** Called only with whole numbers within the bounds. */
  readonly onChange: (value: number) => void;
}

/** An input for whole numbers. It may be empty while a person types. */
export function NumberInput({ label, value, min, max, className, onChange }: NumberInputProps): ReactNode {
  const [draft, setDraft] = useState<string>();
  return (
    <Input
      type="number"
      inputMode="numeric"
      aria-label={label}
      min={min}
      max={max}
      className={className}
      value={draft ?? String(value)}
      onChange={(event) => {
        setDraft(event.target.value);
        const next = Number(event.target.value);
        if (event.target.value !== "" && Number.isInteger(next) && next >= min && next <= max) onChange(next);
      }}
      onBlur={() => setDraft(undefined)}
    />
  );
}
