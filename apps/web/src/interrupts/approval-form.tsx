"use client";

import type { Json } from "@throughline/ai-core";
import { type ReactNode, useLayoutEffect, useState } from "react";
import { createPortal } from "react-dom";
import { Button } from "../design/button";
import { Kbd } from "../design/kbd";
import styles from "./approval-form.module.css";
import {
  type Approvable,
  approveAll,
  type RowDraft,
  readRow,
  rowsOf,
  stopsAll,
  toAnswer,
} from "./approval-rows";
import { CallDecision, DECISION_KEYS } from "./call-decision";
import card from "./card.module.css";
import { gateId } from "./gate-id";

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

/** A row for each call that waits. Of one call alone, an approval goes at once; of several, all decisions go together. */
export function ApprovalForm(props: ApprovalFormProps): ReactNode {
  const { question, drafts, calls, isDisabled, isAlone, isChosen, onDraft, onAnswer } = props;
  const [isTried, setTried] = useState(false);
  const rows = rowsOf(question);
  const readings = rows.map((row, at) => readRow(row, drafts[at] ?? {}));
  const decisions = readings.flatMap((reading) =>
    reading && "decision" in reading ? [reading.decision] : [],
  );
  const isWhole = decisions.length === rows.length;
  // Nothing to send yet, and an approval goes by itself.
  const isSendShown = !(isAlone && rows.length === 1) || drafts[0]?.verb !== undefined;
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
        // The order of the calls is all that tells two calls of one tool apart.
        <OnItsLine key={`${row.name} ${index.toString()}`} toolCallId={calls[index]}>
          {(isOnLine) => (
            <CallDecision
              row={row}
              isOnLine={isOnLine}
              isTried={isTried}
              draft={drafts[index] ?? {}}
              isDisabled={isDisabled}
              onChange={(more) => change(index, more)}
            />
          )}
        </OnItsLine>
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
          <Button look={isAlone ? "primary" : "plain"} disabled={isDisabled || !isWhole} onClick={send}>
            {isChosen ? "Change the answer" : rows.length === 1 ? "Send decision" : "Send decisions"}
          </Button>
        )}
        {everything !== undefined && (
          <Button disabled={isDisabled} onClick={() => onAnswer(everything)}>
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

/** Puts a decision where its call stands in the conversation; here where it stands nowhere. */
function OnItsLine(props: {
  readonly toolCallId: string | undefined;
  readonly children: (isOnLine: boolean) => ReactNode;
}): ReactNode {
  const { toolCallId } = props;
  const [gate, setGate] = useState<HTMLElement | null>(null);
  useLayoutEffect(() => {
    setGate(toolCallId === undefined ? null : document.getElementById(gateId(toolCallId)));
  }, [toolCallId]);
  return gate ? createPortal(props.children(true), gate) : props.children(false);
}
