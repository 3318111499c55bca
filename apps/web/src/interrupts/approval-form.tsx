"use client";

import type { Json } from "@throughline/ai-core";
import { type KeyboardEvent, type ReactNode, useLayoutEffect, useState } from "react";
import { createPortal } from "react-dom";
import { Button } from "../design/button";
import { Field, Input, TextArea } from "../design/field";
import { Kbd } from "../design/kbd";
import styles from "./approval-form.module.css";
import {
  type Approvable,
  type ApprovalRow,
  approveAll,
  changedArgs,
  editDrafts,
  type RowDraft,
  readRow,
  rowsOf,
  stopsAll,
  toAnswer,
} from "./approval-rows";
import { gateId } from "./gate-id";
import { SchemaForm } from "./schema-form";

interface ApprovalFormProps {
  readonly question: Approvable;
  readonly drafts: readonly RowDraft[];
  /** Tool calls that the rows are about, where the conversation shows them: a row stands on its call's line. */
  readonly calls: readonly (string | undefined)[];
  readonly isDisabled: boolean;
  readonly isAlone: boolean;
  readonly isChosen: boolean;
  readonly onDraft: (drafts: readonly RowDraft[]) => void;
  readonly onAnswer: (value: Json) => void;
}

const LABELS: Readonly<Record<string, string>> = {
  approve: "Approve",
  edit: "Edit",
  reject: "Reject",
  respond: "Respond",
};
const KEYS: Readonly<Record<string, string>> = { a: "approve", e: "edit", r: "reject" };

/** A row for each call that waits. Of one call alone, an approval goes at once; of several, all decisions go together. */
export function ApprovalForm(props: ApprovalFormProps): ReactNode {
  const { question, drafts, calls, isDisabled, isAlone, isChosen, onDraft, onAnswer } = props;
  const rows = rowsOf(question);
  const readings = rows.map((row, at) => readRow(row, drafts[at] ?? {}));
  const decisions = readings.flatMap((reading) =>
    reading && "decision" in reading ? [reading.decision] : [],
  );
  const isWhole = decisions.length === rows.length;
  const everything = rows.length > 1 ? approveAll(question) : undefined;

  function change(index: number, more: RowDraft): void {
    if (isAlone && rows.length === 1 && more.verb === "approve") {
      onAnswer(toAnswer(question, [{ type: "approve" }]));
      return;
    }
    onDraft(rows.map((_, at) => (at === index ? { ...drafts[at], ...more } : (drafts[at] ?? {}))));
  }

  function send(): void {
    if (isWhole && !isDisabled) onAnswer(toAnswer(question, decisions));
  }

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a way round for keys; the button does the same
    <div
      className={styles.rows}
      onKeyDown={(event) => {
        if (event.key !== "Enter" || !(event.metaKey || event.ctrlKey)) return;
        event.preventDefault();
        send();
      }}
    >
      {rows.map((row, index) => (
        // The order of the calls is all that tells two calls of one tool apart.
        <OnItsLine key={`${row.name} ${index.toString()}`} toolCallId={calls[index]}>
          <Row
            row={row}
            draft={drafts[index] ?? {}}
            isDisabled={isDisabled}
            onChange={(more) => change(index, more)}
          />
        </OnItsLine>
      ))}
      {stopsAll(question, drafts) && (
        <p className={styles.note}>Rejecting one call stops all of them: this agent runs none of its turn.</p>
      )}
      <div className={styles.buttons}>
        <Button look={isAlone ? "primary" : "plain"} disabled={isDisabled || !isWhole} onClick={send}>
          {isChosen ? "Change the answer" : rows.length === 1 ? "Send decision" : "Send decisions"}
        </Button>
        {everything !== undefined && (
          <Button disabled={isDisabled} onClick={() => onAnswer(everything)}>
            Approve all
          </Button>
        )}
        <span className={styles.keys}>
          <Kbd keys="a" /> approve <Kbd keys="e" /> edit <Kbd keys="r" /> reject <Kbd keys="mod+enter" /> send
        </span>
      </div>
    </div>
  );
}

/** Puts a decision where its call stands in the conversation; here where it stands nowhere. */
function OnItsLine(props: {
  readonly toolCallId: string | undefined;
  readonly children: ReactNode;
}): ReactNode {
  const { toolCallId } = props;
  const [gate, setGate] = useState<HTMLElement | null>(null);
  useLayoutEffect(() => {
    setGate(toolCallId === undefined ? null : document.getElementById(gateId(toolCallId)));
  }, [toolCallId]);
  return gate ? createPortal(props.children, gate) : props.children;
}

interface RowProps {
  readonly row: ApprovalRow;
  readonly draft: RowDraft;
  readonly isDisabled: boolean;
  readonly onChange: (more: RowDraft) => void;
}

function Row({ row, draft, isDisabled, onChange }: RowProps): ReactNode {
  const { verb } = draft;

  function press(event: KeyboardEvent): void {
    const asked = KEYS[event.key];
    const isTyping = event.target instanceof Element && event.target.matches("input, textarea, select");
    if (!asked || isTyping || isDisabled || event.metaKey || event.ctrlKey || event.altKey) return;
    if (!row.verbs.includes(asked)) return;
    event.preventDefault();
    onChange({ verb: asked });
  }

  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a row takes keys of its own
    <fieldset className={styles.row} disabled={isDisabled} tabIndex={0} data-verb={verb} onKeyDown={press}>
      <legend className={styles.name}>{row.name}</legend>
      {row.description !== undefined && <p className={styles.note}>{row.description}</p>}
      {verb === "edit" ? <EditedArgs row={row} draft={draft} onChange={onChange} /> : <Args row={row} />}
      {verb === "reject" && (
        <Field label="Reason" hint="The agent is told. May be left empty.">
          <Input
            value={draft.words ?? ""}
            autoFocus
            onChange={(event) => onChange({ words: event.target.value })}
          />
        </Field>
      )}
      {verb === "respond" && (
        <Field label="What the agent is told" hint="The tool does not run: this is its result.">
          <TextArea
            value={draft.words ?? ""}
            rows={3}
            autoFocus
            onChange={(event) => onChange({ words: event.target.value })}
          />
        </Field>
      )}
      <div className={styles.buttons}>
        {row.verbs.map((one) => (
          <Button key={one} aria-pressed={verb === one} onClick={() => onChange({ verb: one })}>
            {LABELS[one] ?? one.replaceAll("_", " ")}
          </Button>
        ))}
      </div>
    </fieldset>
  );
}

function Args({ row: { args } }: { readonly row: ApprovalRow }): ReactNode {
  const entries = Object.entries(args);
  if (entries.length === 0) return <p className={styles.note}>Without arguments.</p>;
  return (
    <dl className={styles.args}>
      {entries.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{shown(value)}</dd>
        </div>
      ))}
    </dl>
  );
}

function EditedArgs({ row, draft, onChange }: Omit<RowProps, "isDisabled">): ReactNode {
  const reading = readRow(row, draft);
  const edited =
    reading && "decision" in reading && reading.decision.type === "edit" ? reading.decision : undefined;
  const problem = reading && "problem" in reading ? reading : undefined;
  const isJson = draft.json !== undefined;
  // Marked where somebody leaves a field, not while they are still writing in the first one.
  const [isTouched, setTouched] = useState(false);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: only hears that a field of it was left
    <div className={styles.edit} onBlur={() => setTouched(true)}>
      {isJson ? (
        <Field label="Arguments as JSON" problem={problem?.problem}>
          <TextArea
            value={draft.json}
            rows={5}
            onChange={(event) => onChange({ json: event.target.value })}
          />
        </Field>
      ) : (
        <SchemaForm
          fields={row.fields}
          drafts={editDrafts(row, draft)}
          problems={isTouched ? (problem?.problems ?? {}) : {}}
          onChange={(fields) => onChange({ fields })}
          isCalm
        />
      )}
      {edited && <Changes row={row} args={edited.args} />}
      <Button
        look="quiet"
        className={styles.mode}
        onClick={() =>
          onChange({
            json: isJson ? undefined : JSON.stringify(edited?.args ?? row.args, undefined, 2),
          })
        }
      >
        {isJson ? "Edit in the form" : "Edit as JSON"}
      </Button>
    </div>
  );
}

/** What goes, against what the agent asked for. */
function Changes({
  row,
  args,
}: {
  readonly row: ApprovalRow;
  readonly args: ApprovalRow["args"];
}): ReactNode {
  const changes = changedArgs(row.args, args);
  if (changes.length === 0) return <p className={styles.note}>Nothing is changed yet.</p>;
  return (
    <dl className={styles.args} aria-label="What you changed">
      {changes.map(({ name, before, after }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            {before !== undefined && <del>{shown(before)}</del>}{" "}
            {after !== undefined && <ins>{shown(after)}</ins>}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function shown(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
