"use client";

import type { Json, JsonObject } from "@throughline/ai-core";
import {
  type AgentInboxQuestion,
  type ApprovalQuestion,
  type ApprovalsQuestion,
  answerAgentInbox,
  answerApproval,
  answerApprovals,
  type Decision,
  offeredDecisions,
} from "@throughline/questions";
import { type ReactNode, useState } from "react";
import { Button } from "../design/button";
import { Field, Input, TextArea } from "../design/field";
import { isJsonObject } from "../design/is-json-object";
import styles from "./approval-form.module.css";

type Approvable = ApprovalsQuestion | ApprovalQuestion | AgentInboxQuestion;
type Verb = "approve" | "edit" | "reject";

interface Row {
  readonly name: string;
  readonly args: JsonObject;
  readonly description: string | undefined;
  readonly verbs: readonly Verb[];
}

interface Draft {
  readonly verb: Verb | undefined;
  readonly args: string;
  readonly reason: string;
}

interface ApprovalFormProps {
  readonly question: Approvable;
  readonly isDisabled: boolean;
  readonly isAlone: boolean;
  readonly isChosen: boolean;
  readonly onAnswer: (value: Json) => void;
}

const LABELS = { approve: "Approve", edit: "Edit", reject: "Reject" } as const satisfies Record<Verb, string>;

/** A row for each call that waits: approve it, change its arguments as JSON, or reject it with or without a reason. */
export function ApprovalForm({
  question,
  isDisabled,
  isAlone,
  isChosen,
  onAnswer,
}: ApprovalFormProps): ReactNode {
  const rows = rowsOf(question);
  const [drafts, setDrafts] = useState<readonly Draft[]>(() =>
    rows.map(({ args }) => ({ verb: undefined, args: JSON.stringify(args, undefined, 2), reason: "" })),
  );
  const decisions = drafts.map(toDecision);
  const isWhole = decisions.every((decision) => decision !== undefined);
  // JavaScript's middleware drops the whole turn with one rejected call.
  const stopsAll =
    question.kind === "approvals" &&
    question.spelling === "camel" &&
    rows.length > 1 &&
    drafts.some(({ verb }) => verb === "reject");

  function change(index: number, more: Partial<Draft>): void {
    setDrafts((before) => before.map((draft, at) => (at === index ? { ...draft, ...more } : draft)));
  }

  function send(given: readonly (Decision | undefined)[]): void {
    const whole = given.filter((decision) => decision !== undefined);
    if (whole.length === rows.length) onAnswer(toAnswer(question, whole));
  }

  const canApproveAll = rows.length > 1 && rows.every(({ verbs }) => verbs.includes("approve"));
  return (
    <div className={styles.rows}>
      {rows.map((row, index) => (
        <ApprovalRow
          // The order of the calls is all that tells two calls of one tool apart.
          key={`${row.name} ${index.toString()}`}
          row={row}
          draft={drafts[index] ?? { verb: undefined, args: "{}", reason: "" }}
          isDisabled={isDisabled}
          onChange={(more) => change(index, more)}
        />
      ))}
      {stopsAll && <p className={styles.note}>Rejecting one call stops all of them.</p>}
      <div className={styles.buttons}>
        <Button
          look={isAlone ? "primary" : "plain"}
          disabled={isDisabled || !isWhole}
          onClick={() => send(decisions)}
        >
          {isChosen ? "Change the answer" : rows.length === 1 ? "Send decision" : "Send decisions"}
        </Button>
        {canApproveAll && (
          <Button disabled={isDisabled} onClick={() => send(rows.map(() => ({ type: "approve" })))}>
            Approve all
          </Button>
        )}
      </div>
    </div>
  );
}

interface ApprovalRowProps {
  readonly row: Row;
  readonly draft: Draft;
  readonly isDisabled: boolean;
  readonly onChange: (more: Partial<Draft>) => void;
}

function ApprovalRow({ row, draft, isDisabled, onChange }: ApprovalRowProps): ReactNode {
  const isBroken = draft.verb === "edit" && toDecision(draft) === undefined;
  return (
    <fieldset className={styles.row} disabled={isDisabled}>
      <legend className={styles.name}>{row.name}</legend>
      {row.description !== undefined && <p className={styles.note}>{row.description}</p>}
      {draft.verb === "edit" ? (
        <Field label="Arguments as JSON" problem={isBroken ? "This is not a JSON object." : undefined}>
          <TextArea
            value={draft.args}
            rows={5}
            onChange={(event) => onChange({ args: event.target.value })}
          />
        </Field>
      ) : (
        <pre className={styles.args}>{JSON.stringify(row.args, undefined, 2)}</pre>
      )}
      {draft.verb === "reject" && (
        <Field label="Reason" hint="Told to the agent; may be left empty.">
          <Input value={draft.reason} onChange={(event) => onChange({ reason: event.target.value })} />
        </Field>
      )}
      <div className={styles.buttons}>
        {row.verbs.map((verb) => (
          <Button key={verb} aria-pressed={draft.verb === verb} onClick={() => onChange({ verb })}>
            {LABELS[verb]}
          </Button>
        ))}
      </div>
    </fieldset>
  );
}

function rowsOf(question: Approvable): readonly Row[] {
  if (question.kind === "agent_inbox") {
    const { action, args, description, allowed } = question;
    const verbs: Verb[] = [
      ...(allowed.includes("accept") ? (["approve"] as const) : []),
      ...(allowed.includes("edit") ? (["edit"] as const) : []),
      ...(allowed.includes("ignore") || allowed.includes("response") ? (["reject"] as const) : []),
    ];
    return [{ name: action, args, description, verbs }];
  }
  const actions = question.kind === "approvals" ? question.actions : [question.action];
  return actions.map((action) => ({
    name: action.name,
    args: action.args,
    // The stock text says name and arguments once more.
    description: action.description?.includes(`Tool: ${action.name}\n`) ? undefined : action.description,
    verbs: (["approve", "edit", "reject"] as const).filter((verb) => offeredDecisions(action).includes(verb)),
  }));
}

/** `undefined` while it can't be sent. */
function toDecision({ verb, args, reason }: Draft): Decision | undefined {
  switch (verb) {
    case "approve":
      return { type: "approve" };
    case "reject":
      return { type: "reject", ...(reason.trim() !== "" && { message: reason.trim() }) };
    case "edit":
      try {
        const edited: Json = JSON.parse(args);
        return isJsonObject(edited) ? { type: "edit", args: edited } : undefined;
      } catch {
        return undefined;
      }
    case undefined:
      return undefined;
  }
}

function toAnswer(question: Approvable, decisions: readonly Decision[]): Json {
  if (question.kind === "approvals") return answerApprovals(question, decisions);
  const [decision = { type: "approve" as const }] = decisions;
  if (question.kind === "approval") return answerApproval(question, decision);
  switch (decision.type) {
    case "edit":
      return answerAgentInbox(question, { type: "edit", args: decision.args });
    case "reject": {
      const text = decision.message;
      const says =
        question.allowed.includes("response") && (text !== undefined || !question.allowed.includes("ignore"));
      return answerAgentInbox(
        question,
        says ? { type: "response", text: text ?? "No." } : { type: "ignore" },
      );
    }
    default:
      return answerAgentInbox(question, { type: "accept" });
  }
}
