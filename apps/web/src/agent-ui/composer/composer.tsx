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
import { warmTurns } from "../conversation/preload-turns";
import { useSteering } from "../conversation/thread-session";
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

/** Where a person speaks, stops, and gives files; for those whose role does not let them, why not. */
export function Composer(): ReactNode {
  const handle = useThreadHandle();
  const reason = useCaller().refusal("run", handle);
  return reason === undefined ? <MessageForm /> : <ReadOnly reason={reason} />;
}

function ReadOnly({ reason }: { readonly reason: string }): ReactNode {
  return (
    <div className={styles.foot}>
      <div className={styles.place}>
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
  const { send } = useSteering();
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
    const said = words === "" ? [] : [{ type: "text", text: words }];
    sent(send(parts.length === 0 ? words : [...said, ...parts]));
    area.current?.focus();
  }

  function onKeyDown(event: KeyboardEvent): void {
    // Enter that picks a word in an input method is not meant for us.
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    submit();
  }

  function onPaste(event: ClipboardEvent): void {
    const { files, types } = event.clipboardData;
    // Cells and formatted text come with a picture of themselves: who pastes those means the text.
    if (files.length === 0 || (types.includes("text/plain") && types.includes("text/html"))) return;
    event.preventDefault();
    attachments.add(files);
  }

  /** Words that are dragged go where they are let go, as in any other field. */
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
      <div className={styles.place}>
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
              // What is written is about to be sent, and to be shown.
              warmTurns();
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

/** There from the moment something was sent: a stop that comes before its run still stops it. */
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
    // The button goes with the run: a keyboard user goes on in the field.
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

/** As high as its text, up to what the style sheet allows. */
function useAutoGrow(area: RefObject<HTMLTextAreaElement | null>, text: string): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: measured anew with each text
  useLayoutEffect(() => {
    const element = area.current;
    if (!element) return;
    element.style.height = "auto";
    element.style.height = `${element.scrollHeight}px`;
  }, [area, text]);
}

/** Whether a message reaches the graph. Of a graph whose channels are not known, one must assume so. */
export function takesMessages({ inputSchema }: Pick<CatalogAgent, "inputSchema">): boolean {
  const channels = Object.keys(Object(inputSchema.properties));
  return channels.length === 0 || channels.includes("messages");
}
