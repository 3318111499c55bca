"use client";

import type { Json } from "@throughline/ai-core";
import { type KeyboardEvent, type ReactNode, useLayoutEffect, useState } from "react";
import { createPortal } from "react-dom";
import { approvalAnchor } from "../conversation/anchors";
import { shownValue, ValuesEditor } from "../json-schema/values-editor";
import { Button } from "../primitives/button";
import { Field, Input, TextArea } from "../primitives/field";
import { Kbd } from "../primitives/kbd";
import styles from "./approval-form.module.css";
import {
  type Approvable,
  type ApprovalRow,
  approveAll,
  type RowDraft,
  readRow,
  rowsOf,
  stopsAll,
  toResponse,
} from "./approval-rows";
import card from "./response-form.module.css";

interface ApprovalFormProps {
  readonly question: Approvable;
  readonly drafts: readonly RowDraft[];
  /** Tool calls of the rows, where the conversation shows them: a row is rendered at its call. */
  readonly calls: readonly (string | undefined)[];
  readonly isDisabled: boolean;
  readonly isSingle: boolean;
  readonly isChosen: boolean;
  readonly onDraft: (drafts: readonly RowDraft[]) => void;
  readonly onRespond: (value: Json) => void;
}

/** One row for each waiting call. A single call is approved at once; decisions about several are sent together. */
export function ApprovalForm(props: ApprovalFormProps): ReactNode {
  const { question, drafts, calls, isDisabled, isSingle, isChosen, onDraft, onRespond } = props;
  const [isTried, setTried] = useState(false);
  const rows = rowsOf(question);
  const readings = rows.map((row, at) => readRow(row, drafts[at] ?? {}));
  const decisions = readings.flatMap((reading) =>
    reading && "decision" in reading ? [reading.decision] : [],
  );
  const isWhole = decisions.length === rows.length;
  // A single approval is sent at once, so Send appears only with another decision.
  const isSendShown = !(isSingle && rows.length === 1) || drafts[0]?.verb !== undefined;
  const everything = rows.length > 1 ? approveAll(question) : undefined;

  function change(index: number, more: RowDraft): void {
    if (isSingle && rows.length === 1 && more.verb === "approve") {
      onRespond(toResponse(question, [{ type: "approve" }]));
      return;
    }
    onDraft(rows.map((_, at) => (at === index ? { ...drafts[at], ...more } : (drafts[at] ?? {}))));
  }

  function send(): void {
    if (isWhole && !isDisabled) onRespond(toResponse(question, decisions));
    else setTried(true);
  }

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a shortcut; the Send button does the same
    <div
      className={card.form}
      onKeyDown={(event) => {
        if (event.key !== "Enter" || !(event.metaKey || event.ctrlKey)) return;
        event.preventDefault();
        send();
      }}
    >
      {rows.map((row, index) => (
        // Only the order distinguishes two calls of one tool.
        <AtToolCall key={`${row.name} ${index.toString()}`} toolCallId={calls[index]}>
          {(isAtToolCall) => (
            <CallDecision
              row={row}
              isAtToolCall={isAtToolCall}
              isTried={isTried}
              draft={drafts[index] ?? {}}
              isDisabled={isDisabled}
              onChange={(more) => change(index, more)}
            />
          )}
        </AtToolCall>
      ))}
      {calls.some((call) => call !== undefined) && (
        <p className={card.note}>
          {rows.length === 1 ? "Decide at the call above." : "Decide at each call above, then send."}
        </p>
      )}
      {stopsAll(question, drafts) && (
        <p className={card.note}>Rejecting one call stops all of them: this agent runs none of its turn.</p>
      )}
      <div className={card.buttons}>
        {isSendShown && (
          <Button look={isSingle ? "primary" : "plain"} disabled={isDisabled || !isWhole} onClick={send}>
            {isChosen ? "Change the answer" : rows.length === 1 ? "Send decision" : "Send decisions"}
          </Button>
        )}
        {everything !== undefined && (
          <Button disabled={isDisabled} onClick={() => onRespond(everything)}>
            Approve all
          </Button>
        )}
        <span className={styles.keys}>
          {Object.entries(DECISION_KEYS).map(([key, verbs]) => {
            const verb = verbs.find((one) => rows.some((row) => row.verbs.includes(one)));
            return verb && <KeyHint key={key} keys={key} does={verb} />;
          })}
          <KeyHint keys="mod+enter" does="send" />
        </span>
      </div>
    </div>
  );
}

function KeyHint({ keys, does }: { readonly keys: string; readonly does: string }): ReactNode {
  return (
    <span>
      <Kbd keys={keys} /> {does}
    </span>
  );
}

/** Renders a decision at its call in the conversation; in the card where the call is not shown. */
function AtToolCall(props: {
  readonly toolCallId: string | undefined;
  readonly children: (isAtToolCall: boolean) => ReactNode;
}): ReactNode {
  const { toolCallId } = props;
  const [gate, setGate] = useState<HTMLElement | null>(null);
  useLayoutEffect(() => {
    setGate(toolCallId === undefined ? null : document.getElementById(approvalAnchor(toolCallId)));
  }, [toolCallId]);
  return gate ? createPortal(props.children(true), gate) : props.children(false);
}

const LABELS: Readonly<Record<string, string>> = {
  approve: "Approve",
  edit: "Edit",
  reject: "Reject",
  ignore: "Ignore",
  respond: "Respond",
};
/** Decisions by key: the first one that the row offers. */
const DECISION_KEYS: Readonly<Record<string, readonly string[]>> = {
  a: ["approve"],
  e: ["edit"],
  r: ["reject", "ignore"],
};

interface CallDecisionProps {
  readonly row: ApprovalRow;
  /** Rendered at its call, which shows the name of the tool. */
  readonly isAtToolCall: boolean;
  /** The person tried to send, so problems are shown. */
  readonly isTried: boolean;
  readonly draft: RowDraft;
  readonly isDisabled: boolean;
  readonly onChange: (more: RowDraft) => void;
}

/** A waiting call with its possible decisions. */
function CallDecision({
  row,
  isAtToolCall,
  isTried,
  draft,
  isDisabled,
  onChange,
}: CallDecisionProps): ReactNode {
  const { verb } = draft;
  const name = row.name || "Tool call";
  const reading = readRow(row, draft);
  // Problems show after a field lost the focus or a send was tried, not while a person types.
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
      <legend className={isAtToolCall ? "visually-hidden" : styles.name}>{name}</legend>
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
    <dl className={styles.values}>
      {entries.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{shownValue(value)}</dd>
        </div>
      ))}
    </dl>
  );
}
