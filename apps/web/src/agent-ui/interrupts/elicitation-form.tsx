"use client";

import type { Json } from "@throughline/ai-core";
import {
  dismissResponse,
  type ElicitationItem,
  type ElicitationRequest,
  type ElicitationResponse,
  respondToElicitation,
} from "@throughline/questions";
import { type FormEvent, type ReactNode, useId, useMemo, useState } from "react";
import {
  type Drafts,
  draftsOf,
  fieldsOf,
  presetOf,
  readDrafts,
  type SchemaField,
} from "../json-schema/schema-fields";
import { SchemaForm } from "../json-schema/schema-form";
import { Button } from "../primitives/button";
import { Problem } from "../primitives/field";
import styles from "./elicitation-form.module.css";
import card from "./response-form.module.css";

interface ElicitationFormProps {
  readonly question: ElicitationRequest;
  readonly isDisabled: boolean;
  readonly isSingle: boolean;
  readonly isChosen: boolean;
  readonly onRespond: (value: Json) => void;
}

/** The decision about a request. A form counts as accepted until it is declined. */
interface RequestDraft {
  readonly action?: "accept" | "decline";
  readonly drafts?: Drafts;
}

type Problems = Readonly<Record<string, string>>;

const NOT_DONE = "Open the page and say when you are done, or decline.";

/** An elicitation of an MCP server: each request is a form or a URL, and is accepted or declined separately. */
export function ElicitationForm(props: ElicitationFormProps): ReactNode {
  const { question, isDisabled, isSingle, isChosen, onRespond } = props;
  const { requests, asker } = question;
  const fields = useMemo(
    () => requests.map(({ mode, schema }) => (mode === "form" && schema ? fieldsOf(schema) : [])),
    [requests],
  );
  const [drafts, setDrafts] = useState<readonly RequestDraft[]>(() =>
    requests.map(({ schema }, at) => ({ drafts: draftsOf(fields[at] ?? [], schema && presetOf(schema)) })),
  );
  const [problems, setProblems] = useState<readonly Problems[]>([]);
  const isOne = requests.length === 1;
  const dismissal = dismissResponse(question);

  function change(at: number, more: RequestDraft): void {
    setDrafts(drafts.map((draft, one) => (one === at ? { ...draft, ...more } : draft)));
  }

  function send(decided: readonly RequestDraft[]): void {
    const readings = requests.map(({ mode }, at) => readRequest(mode, fields[at] ?? [], decided[at] ?? {}));
    setProblems(readings.map((reading) => ("problems" in reading ? reading.problems : {})));
    const answers = readings.flatMap((reading) => ("answer" in reading ? [reading.answer] : []));
    if (answers.length === requests.length) onRespond(respondToElicitation(question, answers));
  }

  function submit(event: FormEvent): void {
    event.preventDefault();
    const isDone = isOne && requests[0]?.mode === "url";
    send(isDone ? [{ action: "accept" }] : isOne ? [{ ...drafts[0], action: "accept" }] : drafts);
  }

  return (
    <form className={card.form} onSubmit={submit} noValidate>
      {asker !== undefined && !question.message.startsWith(asker) && (
        <p className={card.note}>Asked by {asker}</p>
      )}
      {requests.map((request, at) => (
        <Request
          key={request.key}
          request={request}
          isOne={isOne}
          fields={fields[at] ?? []}
          draft={drafts[at] ?? {}}
          problems={problems[at] ?? {}}
          isDisabled={isDisabled}
          onChange={(more) => change(at, more)}
        />
      ))}
      <div className={card.buttons}>
        <Button type="submit" look={isSingle ? "primary" : "plain"} disabled={isDisabled}>
          {isChosen ? "Change the answer" : isOne ? acceptLabel(requests[0]) : "Send answers"}
        </Button>
        {isOne && (
          <Button disabled={isDisabled} onClick={() => send([{ action: "decline" }])}>
            Decline
          </Button>
        )}
        {dismissal !== undefined && (
          <Button look="quiet" disabled={isDisabled} onClick={() => onRespond(dismissal)}>
            Cancel
          </Button>
        )}
      </div>
    </form>
  );
}

function acceptLabel(request: ElicitationItem | undefined): string {
  return request?.mode === "url" ? "I have done it" : "Answer";
}

function readRequest(
  mode: ElicitationItem["mode"],
  fields: readonly SchemaField[],
  { action, drafts = {} }: RequestDraft,
): { readonly answer: ElicitationResponse } | { readonly problems: Problems } {
  if (action === "decline") return { answer: { action } };
  if (mode === "url") return action ? { answer: { action } } : { problems: { "": NOT_DONE } };
  const read = readDrafts(fields, drafts);
  return read.problems ? { problems: read.problems } : { answer: { action: "accept", content: read.value } };
}

interface RequestProps {
  readonly request: ElicitationItem;
  /** The only request: the buttons of the form decide about it. */
  readonly isOne: boolean;
  readonly fields: readonly SchemaField[];
  readonly draft: RequestDraft;
  readonly problems: Problems;
  readonly isDisabled: boolean;
  readonly onChange: (more: RequestDraft) => void;
}

function Request({ request, isOne, fields, draft, problems, isDisabled, onChange }: RequestProps): ReactNode {
  const id = useId();
  const { message, mode, url } = request;
  const isDeclined = draft.action === "decline";
  const accept = isDeclined || mode === "url" ? "accept" : undefined;
  return (
    <fieldset className={isOne ? styles.only : card.part} disabled={isDisabled} aria-describedby={id}>
      <legend className={isOne ? "visually-hidden" : styles.legend}>{message}</legend>
      {mode === "url" && <Address url={url} />}
      {!isDeclined && fields.length > 0 && (
        <SchemaForm
          fields={fields}
          drafts={draft.drafts ?? {}}
          problems={problems}
          onChange={(drafts) => onChange({ drafts })}
        />
      )}
      {!isOne && (
        <div className={card.buttons}>
          {accept && (
            <Button aria-pressed={draft.action === "accept"} onClick={() => onChange({ action: accept })}>
              {mode === "url" ? "I have done it" : "Answer it after all"}
            </Button>
          )}
          <Button aria-pressed={isDeclined} onClick={() => onChange({ action: "decline" })}>
            Decline
          </Button>
        </div>
      )}
      <Problem id={id}>{problems[""]}</Problem>
    </fieldset>
  );
}

/** A web page is never opened automatically or embedded: the person sees its host and opens it. */
function Address({ url }: { readonly url: string | undefined }): ReactNode {
  const address = webAddress(url);
  if (!address) return <p className={styles.address}>The address is no web page: {url ?? "none"}</p>;
  return (
    <div className={styles.address}>
      <p>
        This happens on <strong>{address.host}</strong>, in a page of its own.
      </p>
      <p className={styles.url}>{address.href}</p>
      <a className={styles.open} href={address.href} target="_blank" rel="noopener noreferrer">
        Open {address.host}
      </a>
    </div>
  );
}

function webAddress(url: string | undefined): URL | undefined {
  if (url === undefined || !URL.canParse(url)) return undefined;
  const address = new URL(url);
  return /^https?:$/.test(address.protocol) ? address : undefined;
}
