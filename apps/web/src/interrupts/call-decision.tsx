"use client";

import { type KeyboardEvent, type ReactNode, useState } from "react";
import { Button } from "../design/button";
import { Field, Input, TextArea } from "../design/field";
import styles from "./approval-form.module.css";
import { type ApprovalRow, type RowDraft, readRow } from "./approval-rows";
import card from "./card.module.css";
import values from "./values.module.css";
import { shownValue, ValuesEditor } from "./values-editor";

const LABELS: Readonly<Record<string, string>> = {
  approve: "Approve",
  edit: "Edit",
  reject: "Reject",
  ignore: "Ignore",
  respond: "Respond",
};
/** What a key decides: the first of these that the row offers. */
export const DECISION_KEYS: Readonly<Record<string, readonly string[]>> = {
  a: ["approve"],
  e: ["edit"],
  r: ["reject", "ignore"],
};

interface CallDecisionProps {
  readonly row: ApprovalRow;
  /** It is drawn on its call's own line, which shows the tool's name. */
  readonly isOnLine: boolean;
  /** The person tried to send it: problems are shown. */
  readonly isTried: boolean;
  readonly draft: RowDraft;
  readonly isDisabled: boolean;
  readonly onChange: (more: RowDraft) => void;
}

/** A call that waits, and what can be decided about it. */
export function CallDecision({
  row,
  isOnLine,
  isTried,
  draft,
  isDisabled,
  onChange,
}: CallDecisionProps): ReactNode {
  const { verb } = draft;
  const name = row.name || "Tool call";
  const reading = readRow(row, draft);
  // Problems show once a field was left or the decision was to be sent, not while a person still types.
  const [isLeft, setLeft] = useState(false);
  // A decision restored from an earlier visit must not take the focus when the page opens.
  const [isPressed, setPressed] = useState(false);
  const problem = (isTried || isLeft) && reading && "problem" in reading ? reading : undefined;

  function press(event: KeyboardEvent): void {
    const asked = DECISION_KEYS[event.key]?.find((one) => row.verbs.includes(one));
    if (!asked || isField(event.target) || isDisabled || event.metaKey || event.ctrlKey || event.altKey)
      return;
    event.preventDefault();
    decide(asked);
  }

  function decide(asked: string): void {
    setPressed(true);
    onChange({ verb: asked });
  }

  return (
    <fieldset
      className={`${card.part} ${styles.row}`}
      disabled={isDisabled}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a row takes keys of its own
      tabIndex={0}
      data-verb={verb}
      onKeyDown={press}
      onBlur={(event) => {
        if (isField(event.target)) setLeft(true);
      }}
    >
      <legend className={isOnLine ? "visually-hidden" : styles.name}>{name}</legend>
      {row.description !== undefined && <p className={card.note}>{row.description}</p>}
      {verb === "edit" ? (
        <ValuesEditor
          before={row.args}
          fields={row.fields}
          draft={draft}
          problems={problem?.problems ?? {}}
          jsonLabel="Arguments as JSON"
          onChange={onChange}
        />
      ) : (
        <Args row={row} />
      )}
      {verb === "reject" && row.takesReason && (
        <Field label="Reason" hint="The agent is told. May be left empty.">
          <Input
            value={draft.words ?? ""}
            autoFocus={isPressed}
            onChange={(event) => onChange({ words: event.target.value })}
          />
        </Field>
      )}
      {verb === "respond" && (
        <Field
          label="What the agent is told"
          hint="The tool does not run: this is its result."
          problem={problem?.problem}
        >
          <TextArea
            value={draft.words ?? ""}
            rows={3}
            autoFocus={isPressed}
            onChange={(event) => onChange({ words: event.target.value })}
          />
        </Field>
      )}
      <div className={card.buttons}>
        {row.verbs.map((one) => (
          <Button key={one} aria-pressed={verb === one} onClick={() => decide(one)}>
            {LABELS[one] ?? one.replaceAll("_", " ")}
          </Button>
        ))}
      </div>
    </fieldset>
  );
}

function isField(target: EventTarget): boolean {
  return target instanceof Element && target.matches("input, textarea, select");
}

function Args({ row: { args } }: { readonly row: ApprovalRow }): ReactNode {
  const entries = Object.entries(args);
  if (entries.length === 0) return <p className={card.note}>Without arguments.</p>;
  return (
    <dl className={values.values}>
      {entries.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{shownValue(value)}</dd>
        </div>
      ))}
    </dl>
  );
}
