"use client";

import { type ReactNode, useState } from "react";
import { Input } from "../design/field";

interface NumberInputProps {
  readonly label: string;
  readonly value: number;
  readonly min: number;
  readonly max: number;
  readonly className?: string | undefined;
  /** Called with whole numbers within the bounds, and nothing else. */
  readonly onChange: (value: number) => void;
}

/** May be empty while a person types. */
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
