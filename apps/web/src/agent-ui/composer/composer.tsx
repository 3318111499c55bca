"use client";

import type { ThreadSnapshot } from "@throughline/agent-client";
import { useCommands, usePending, useThread, useThreadHandle } from "@throughline/agent-react";
import dynamic from "next/dynamic";
import {
  type ClipboardEvent,
  type DragEvent,
  type FormEvent,
  type KeyboardEvent,
  type MouseEvent,
  type ReactNode,
  type RefObject,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { type CatalogAgent, useAgentCatalog } from "../../data/agents";
import { useCaller } from "../../data/caller";
import { useShortcut } from "../../shell/shortcuts";
import { preloadTurns } from "../conversation/preload-turns";
import { useThreadSession } from "../conversation/thread-session";
import { Button, IconButton } from "../primitives/button";
import { Icon } from "../primitives/icon";
import { ACCEPTED } from "./attachment-limits";
import styles from "./composer.module.css";
import { useDraft } from "./use-draft";

const ModelPicker = dynamic(() => import("../../thread/model-picker").then((module) => module.ModelPicker), {
  ssr: false,
});
const DraftFiles = dynamic(() => import("./draft-files").then((module) => module.DraftFiles), { ssr: false });
const CommandBar = dynamic(() => import("./command-bar").then((module) => module.CommandBar), { ssr: false });

/** The input for messages and files, with the stop button. Callers whose role does not allow it see the reason. */
export function Composer(): ReactNode {
  const handle = useThreadHandle();
  const reason = useCaller().refusal("run", handle);
  return reason === undefined ? <MessageForm /> : <ReadOnly reason={reason} />;
}

function ReadOnly({ reason }: { readonly reason: string }): ReactNode {
  return (
    <div className={styles.foot}>
      <div className={styles.column}>
        <div className={styles.readOnly} role="note">
          <p>You can read this thread. {reason}</p>
          <StopButton onStop={() => {}} />
        </div>
      </div>
    </div>
  );
}

function MessageForm(): ReactNode {
  const handle = useThreadHandle();
  const { agentId } = handle;
  const uploadRefusal = useCaller().refusal("upload", handle);
  const agent = useAgentCatalog().byId.get(agentId);
  const { send } = useThreadSession();
  const [isOver, setOver] = useState(false);
  const area = useRef<HTMLTextAreaElement>(null);
  const { text, setText, attachments, sent } = useDraft(area);
  const picker = useRef<HTMLInputElement>(null);
  useAutoGrow(area, text);
  useShortcut("/", "Write a message", () => area.current?.focus());

  const isEmpty = text.trim() === "" && !attachments.files.some(({ state }) => state === "ready");
  const isReady = !isEmpty && !attachments.isUploading;

  function submit(event?: FormEvent): void {
    event?.preventDefault();
    if (!isReady) return;
    const parts = attachments.files.flatMap(({ part }) => part ?? []);
    const words = text.trim();
    const textParts = words === "" ? [] : [{ type: "text", text: words }];
    sent(send(parts.length === 0 ? words : [...textParts, ...parts]));
    area.current?.focus();
  }

  function onKeyDown(event: KeyboardEvent): void {
    // Enter that confirms a word of an input method does not submit.
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    submit();
  }

  function onPaste(event: ClipboardEvent): void {
    const { files, types } = event.clipboardData;
    // Cells and formatted text include a picture of themselves; the text is meant then.
    if (files.length === 0 || (types.includes("text/plain") && types.includes("text/html"))) return;
    event.preventDefault();
    attachments.add(files);
  }

  /** Accepts files only. Dragged text is dropped natively, as in any other field. */
  function onDragOver(event: DragEvent): void {
    if (!event.dataTransfer.types.includes("Files")) return;
    event.preventDefault();
    setOver(true);
  }

  function onDragLeave({ currentTarget, relatedTarget }: DragEvent): void {
    if (!(relatedTarget instanceof Node && currentTarget.contains(relatedTarget))) setOver(false);
  }

  function onDrop(event: DragEvent): void {
    setOver(false);
    if (!event.dataTransfer.types.includes("Files")) return;
    event.preventDefault();
    attachments.add(event.dataTransfer.files);
    area.current?.focus();
  }

  function remove(key: string): void {
    attachments.remove(key);
    area.current?.focus();
  }

  return (
    <div className={styles.foot}>
      <div className={styles.column}>
        {agent && agent.commands.length > 0 && <CommandBar agent={agent} />}
        {agent && !takesMessages(agent) && (
          <p className={styles.note} role="note">
            The state of this graph has no messages: what you write starts a run and does not reach it.
          </p>
        )}
        <form
          className={styles.composer}
          data-over={isOver}
          onSubmit={submit}
          onDragOver={onDragOver}
          onDragLeave={onDragLeave}
          onDrop={onDrop}
        >
          {attachments.files.length > 0 && <DraftFiles files={attachments.files} onRemove={remove} />}
          <textarea
            ref={area}
            className={styles.text}
            rows={1}
            value={text}
            aria-label={`Message to ${agent?.name ?? "the agent"}`}
            placeholder={`Message ${agent?.name ?? "the agent"}`}
            autoComplete="off"
            onChange={(event) => {
              // A message will be sent and shown soon.
              preloadTurns();
              setText(event.target.value);
            }}
            onKeyDown={onKeyDown}
            onPaste={onPaste}
          />
          <div className={styles.actions}>
            <IconButton
              icon="attach"
              label={uploadRefusal ?? "Attach files"}
              disabled={uploadRefusal !== undefined}
              onClick={() => picker.current?.click()}
            />
            <input
              ref={picker}
              type="file"
              multiple
              hidden
              accept={ACCEPTED}
              aria-label="Files to attach"
              onChange={(event) => {
                attachments.add(event.target.files ?? []);
                event.target.value = "";
              }}
            />
            {agent?.answeredBy === "model" && agent.acceptsModel && <ModelPicker />}
            <span className={styles.hint}>{isOver ? "Drop to attach" : ""}</span>
            <StopButton onStop={() => area.current?.focus()} />
            <IconButton icon="send" label="Send" look="primary" type="submit" disabled={!isReady} />
          </div>
        </form>
      </div>
    </div>
  );
}

/** Shown as soon as something was sent: a stop that precedes its run still stops it. */
function StopButton({ onStop }: { readonly onStop: () => void }): ReactNode {
  const commands = useCommands();
  const reason = useCaller().refusal("stop", useThreadHandle());
  const { running, preempting } = usePending();
  const isRunning = useThread(isRunningNow) || running;
  useShortcut(
    isRunning && reason === undefined ? "mod+." : undefined,
    "Stop the run",
    () => void commands.stop(),
  );
  if (!isRunning && !preempting) return null;

  function stop({ currentTarget }: MouseEvent): void {
    void commands.stop();
    // The button unmounts with the run: a keyboard user continues in the field.
    if (currentTarget.matches(":focus-visible")) onStop();
  }

  return (
    <Button onClick={stop} disabled={preempting || reason !== undefined} title={reason}>
      <Icon name="stop" size={12} />
      {preempting ? "Stopping…" : "Stop"}
    </Button>
  );
}

const isRunningNow = ({ view }: ThreadSnapshot) => view.run?.status === "running";

/** Fits the height to the text, up to the limit of the style sheet. */
function useAutoGrow(area: RefObject<HTMLTextAreaElement | null>, text: string): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: measured again with each text
  useLayoutEffect(() => {
    const element = area.current;
    if (!element) return;
    element.style.height = "auto";
    element.style.height = `${element.scrollHeight}px`;
  }, [area, text]);
}

/** Whether a message reaches the graph. Assumed for a graph with unknown channels. */
export function takesMessages({ inputSchema }: Pick<CatalogAgent, "inputSchema">): boolean {
  const channels = Object.keys(Object(inputSchema.properties));
  return channels.length === 0 || channels.includes("messages");
}
