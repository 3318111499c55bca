"use client";

import type { ThreadSnapshot } from "@throughline/agent-client";
import { useCommands, usePending, useThread, useThreadHandle } from "@throughline/agent-react";
import {
  type ClipboardEvent,
  type DragEvent,
  type FormEvent,
  type KeyboardEvent,
  type ReactNode,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { useAgentCatalog } from "../console/use-agent-catalog";
import { useShortcut } from "../console/use-shortcut";
import { useSteering } from "../conversation/steering";
import { Button, IconButton } from "../design/button";
import { Icon } from "../design/icon";
import { ACCEPTED } from "./attachment-limits";
import { CommandBar } from "./command-bar";
import styles from "./composer.module.css";
import { DraftFiles } from "./draft-files";
import { useAttachments } from "./use-attachments";
import { useAutoGrow } from "./use-auto-grow";

/** Where a person speaks, stops, and gives files. */
export function Composer(): ReactNode {
  const { agentId } = useThreadHandle();
  const agent = useAgentCatalog().byId.get(agentId);
  const { send } = useSteering();
  const [text, setText] = useState("");
  const [isOver, setOver] = useState(false);
  const attachments = useAttachments();
  const area = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  useAutoGrow(area, text);
  // What somebody typed before the page came to life.
  useLayoutEffect(() => setText((before) => before || (area.current?.value ?? "")), []);
  useShortcut("/", "Write a message", () => area.current?.focus());

  const isEmpty = text.trim() === "" && !attachments.files.some(({ state }) => state === "ready");
  const isReady = !isEmpty && !attachments.isUploading;

  function submit(event?: FormEvent): void {
    event?.preventDefault();
    if (!isReady) return;
    const parts = attachments.take();
    const words = text.trim();
    send(parts.length === 0 ? words : [...(words === "" ? [] : [{ type: "text", text: words }]), ...parts]);
    setText("");
    area.current?.focus();
  }

  function onKeyDown(event: KeyboardEvent): void {
    // Enter that picks a word in an input method is not meant for us.
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    submit();
  }

  function onPaste(event: ClipboardEvent): void {
    if (event.clipboardData.files.length === 0) return;
    event.preventDefault();
    attachments.add(event.clipboardData.files);
  }

  function onDrop(event: DragEvent): void {
    event.preventDefault();
    setOver(false);
    attachments.add(event.dataTransfer.files);
  }

  return (
    <div className={styles.foot}>
      <div className={styles.place}>
        <CommandBar agent={agent} />
        <form
          className={styles.composer}
          data-over={isOver}
          onSubmit={submit}
          onDragOver={(event) => {
            event.preventDefault();
            setOver(true);
          }}
          onDragLeave={() => setOver(false)}
          onDrop={onDrop}
        >
          <DraftFiles files={attachments.files} onRemove={attachments.remove} />
          <textarea
            ref={area}
            className={styles.text}
            rows={1}
            value={text}
            aria-label={`Message to ${agent?.name ?? "the agent"}`}
            placeholder={`Message ${agent?.name ?? "the agent"}`}
            onChange={(event) => setText(event.target.value)}
            onKeyDown={onKeyDown}
            onPaste={onPaste}
          />
          <div className={styles.actions}>
            <IconButton icon="attach" label="Attach files" onClick={() => picker.current?.click()} />
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
            <span className={styles.hint}>{isOver ? "Drop to attach" : ""}</span>
            <StopButton />
            <IconButton icon="send" label="Send" look="primary" type="submit" disabled={!isReady} />
          </div>
        </form>
      </div>
    </div>
  );
}

/** There from the moment something was sent: a stop that comes before its run still stops it. */
function StopButton(): ReactNode {
  const commands = useCommands();
  const { running, preempting } = usePending();
  const isRunning = useThread(isRunningNow) || running;
  useShortcut(isRunning ? "mod+." : undefined, "Stop the run", () => void commands.stop());
  if (!isRunning && !preempting) return null;
  return (
    <Button onClick={() => void commands.stop()} disabled={preempting}>
      <Icon name="stop" size={12} />
      {preempting ? "Stopping…" : "Stop"}
    </Button>
  );
}

const isRunningNow = ({ view }: ThreadSnapshot) => view.run?.status === "running";
