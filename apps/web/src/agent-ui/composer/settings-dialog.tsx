"use client";

import type { CommandOutcome } from "@throughline/agent-client";
import { useCommands, usePending, useThreadState } from "@throughline/agent-react";
import type { JsonObject } from "@throughline/ai-core";
import { type FormEvent, type ReactNode, useId, useMemo, useState } from "react";
import type { CatalogAgent } from "../../data/agents";
import { outcomeText } from "../conversation/outcome-text";
import { useThreadSession } from "../conversation/thread-session";
import { draftsOf, fieldsOf, readDrafts } from "../json-schema/schema-fields";
import { SchemaForm } from "../json-schema/schema-form";
import { Button } from "../primitives/button";
import { Dialog } from "../primitives/dialog";
import { isJsonObject } from "../primitives/is-json-object";
import styles from "./settings-dialog.module.css";

interface SettingsDialogProps {
  readonly agent: CatalogAgent;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

/** The settings of the agent. They apply, and are shown as saved, once the agent's state confirms them. */
export function SettingsDialog({ agent, isOpen, onClose }: SettingsDialogProps): ReactNode {
  const id = useId();
  const { sync: isPending } = usePending();
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title={`Settings of ${agent.name}`}
      actions={
        <>
          <Button onClick={onClose}>Close</Button>
          <Button look="primary" type="submit" form={id} disabled={isPending}>
            {isPending ? "Saving…" : "Save"}
          </Button>
        </>
      }
    >
      <SettingsForm id={id} agent={agent} isPending={isPending} />
    </Dialog>
  );
}

interface SettingsFormProps {
  readonly id: string;
  readonly agent: CatalogAgent;
  readonly isPending: boolean;
}

function SettingsForm({ id, agent, isPending }: SettingsFormProps): ReactNode {
  const fields = useMemo(
    // Settings without a control are not offered.
    () => fieldsOf(settingsSchema(agent.inputSchema)).filter(({ kind }) => kind !== "json"),
    [agent.inputSchema],
  );
  const state = useThreadState(whole);
  const [drafts, setDrafts] = useState(() => draftsOf(fields, state));
  const [problems, setProblems] = useState<Readonly<Record<string, string>>>({});
  const [outcome, setOutcome] = useState<CommandOutcome>();
  const commands = useCommands();
  const { track } = useThreadSession();

  async function save(event: FormEvent): Promise<void> {
    event.preventDefault();
    const read = readDrafts(fields, drafts);
    setProblems(read.problems ?? {});
    if (read.problems || !isJsonObject(read.value)) return;
    setOutcome(undefined);
    setOutcome(await track(commands.sync(read.value)));
  }

  return (
    <form id={id} className={styles.form} onSubmit={save}>
      <SchemaForm fields={fields} drafts={drafts} problems={problems} onChange={setDrafts} />
      <p className={styles.status} data-outcome={isPending ? "pending" : outcome?.kind} role="status">
        {statusText(isPending, outcome)}
      </p>
    </form>
  );
}

function statusText(isPending: boolean, outcome: CommandOutcome | undefined): string {
  if (isPending) return "Sent. Waiting for the agent to apply the settings…";
  if (!outcome || outcome.kind === "superseded") return "";
  if (outcome.kind === "confirmed") return "Saved: the agent works by these settings.";
  return outcomeText(outcome) ?? "The agent did not apply the settings. Save again.";
}

/** The part of the schema that a person may set: without messages and without the command that carries the request. */
function settingsSchema(schema: JsonObject): JsonObject {
  const {
    messages: _messages,
    command: _command,
    ...properties
  } = isJsonObject(schema.properties) ? schema.properties : {};
  return { ...schema, properties };
}

const whole = (state: JsonObject) => state;
