"use client";

import {
  type CallView,
  contentText,
  currentMessages,
  type ThreadMessage,
  type ThreadView,
} from "@throughline/agent-client";
import { useThreadHandle } from "@throughline/agent-react";
import { type ReactNode, useEffect, useMemo, useState } from "react";
import {
  AttachedFiles,
  contentFiles,
  FilesOfThread,
  filesInText,
} from "../../agent-ui/conversation/attachments";
import { Markdown } from "../../agent-ui/markdown/markdown";
import { Button, IconButton } from "../../agent-ui/primitives/button";
import { Disclosure } from "../../agent-ui/primitives/disclosure";
import { formatDuration } from "../../agent-ui/primitives/elapsed";
import { Icon } from "../../agent-ui/primitives/icon";
import { NOTHING_CHANGED, prettyJson, StateTree } from "../../agent-ui/primitives/json-tree";
import type { Run } from "../../data/runs";
import { PanelSection } from "../../shell/page-frame";
import { type ThreadLogSnapshot, useThreadLog } from "../inspector/thread-log";
import { createReplay, recordRun } from "./replay";
import styles from "./run-replay.module.css";

interface RunReplayProps {
  readonly run: Run;
  /** Number of its entries in the log. */
  readonly entries: number;
  readonly onBack: () => void;
}

/** Longest pause of the replay, which shortens waiting for people and slow models. */
const LONGEST_PAUSE_MS = 400;

/** Replays a run: its log up to the slider's position. */
export function RunReplay({ run, entries, onBack }: RunReplayProps): ReactNode {
  const log = useThreadLog();
  // biome-ignore lint/correctness/useExhaustiveDependencies: of all new entries, only this run's own matter
  const { envelopes, replay } = useMemo(() => {
    const recording = recordRun(envelopesOf(log), run.runId);
    return { envelopes: recording.envelopes, replay: createReplay(recording) };
  }, [run.runId, entries, log.generation]);
  const [wanted, setWanted] = useState<number>();
  const [isPlaying, setPlaying] = useState(false);
  const last = envelopes.length;
  const isCompacted = envelopes.some(({ merged }) => merged !== undefined);
  // Until it is moved, the position is the current end.
  const position = Math.min(wanted ?? last, last);
  const now = envelopes[position - 1];
  const next = envelopes[position];

  useEffect(() => {
    if (!isPlaying) return;
    if (!next) {
      setPlaying(false);
      return;
    }
    const gap = now ? (next.ts - now.ts) * 1_000 : 0;
    const timer = setTimeout(() => setWanted(position + 1), Math.max(16, Math.min(gap, LONGEST_PAUSE_MS)));
    return () => clearTimeout(timer);
  }, [isPlaying, position, now, next]);

  function play(): void {
    if (!isPlaying && position === last) setWanted(0);
    setPlaying(!isPlaying);
  }

  function moveTo(target: number): void {
    setPlaying(false);
    setWanted(Math.max(0, Math.min(last, target)));
  }

  const words = now
    ? `${now.type}, ${formatSeconds(now.ts - (envelopes[0]?.ts ?? now.ts))}`
    : "before it began";
  return (
    <section className={styles.replay} aria-label="Replay of a run">
      <header className={styles.head}>
        <Button look="quiet" className={styles.back} onClick={onBack}>
          <span className={styles.chevron}>
            <Icon name="chevronRight" size={14} />
          </span>
          All runs
        </Button>
        <span className={styles.note}>{isCompacted ? "Read only, compacted" : "Read only"}</span>
      </header>
      <div className={styles.controls}>
        <input
          type="range"
          className={styles.slider}
          min={0}
          max={last}
          value={position}
          aria-label="Position in the run's log"
          aria-valuetext={`Entry ${position} of ${last}, ${words}`}
          onChange={(event) => moveTo(event.target.valueAsNumber)}
        />
        <div className={styles.row}>
          <IconButton
            icon={isPlaying ? "pause" : "play"}
            label={isPlaying ? "Pause" : "Play"}
            onClick={play}
          />
          <span className={styles.position}>
            {position} <span className={styles.of}>of {last}</span>
          </span>
          <code className={styles.type}>{words}</code>
        </div>
      </div>
      <ReplayView view={replay.viewAt(position)} />
    </section>
  );
}

function* envelopesOf({ entries, count }: ThreadLogSnapshot) {
  for (let at = 0; at < count; at += 1) {
    const entry = entries[at];
    if (entry) yield entry.envelope;
  }
}

function formatSeconds(seconds: number): string {
  return `${Math.max(0, seconds).toFixed(2)} s`;
}

const ROLE_LABELS: Readonly<Record<ThreadMessage["role"], string>> = {
  user: "You",
  assistant: "Agent",
  reasoning: "Thought",
  tool: "Result",
  system: "System",
  developer: "Developer",
};

/** A thread at the replayed position, read-only. */
function ReplayView({ view }: { readonly view: ThreadView }): ReactNode {
  const messages = currentMessages(view).filter(({ subagentRunId }) => subagentRunId === undefined);
  const hasState = Object.keys(view.state).length > 0;
  return (
    <>
      <PanelSection title="Conversation">
        {messages.length === 0 && <p className={styles.none}>Nothing was said yet.</p>}
        <ol className={styles.messages}>
          {messages.map((message) => (
            <li key={message.id} className={styles.message} data-role={message.role}>
              <span className={styles.role}>{ROLE_LABELS[message.role]}</span>
              <MessageContent message={message} />
            </li>
          ))}
        </ol>
        {view.run?.error && <p className={styles.failed}>{view.run.error.message}</p>}
      </PanelSection>
      <PanelSection title="Work" note={view.calls.length}>
        <ol className={styles.calls}>
          {view.calls.map((call) => (
            <CallLine key={`${call.attempt} ${call.callId}`} call={call} depth={depthOf(call, view.calls)} />
          ))}
        </ol>
      </PanelSection>
      {hasState && (
        <PanelSection title="State">
          <StateTree value={view.state} changes={NOTHING_CHANGED} round={0} />
        </PanelSection>
      )}
    </>
  );
}

function MessageContent({ message }: { readonly message: ThreadMessage }): ReactNode {
  const thread = useThreadHandle();
  const text = contentText(message.content);
  const files = message.role === "tool" ? filesInText(text) : contentFiles(message.content);
  return (
    <div className={styles.content}>
      {message.role === "assistant" && text !== "" && (
        <FilesOfThread>
          <Markdown text={text} isGrowing />
        </FilesOfThread>
      )}
      {message.role === "tool" && <CollapsedText brief={text} text={text} />}
      {message.role !== "assistant" && message.role !== "tool" && text !== "" && (
        <p className={styles.plain}>{text}</p>
      )}
      <AttachedFiles files={files} thread={thread} />
      {message.toolCalls?.map((call) => (
        <CollapsedText key={call.id} name={call.name} brief={call.args} text={call.args} />
      ))}
    </div>
  );
}

interface FoldedProps {
  readonly name?: string;
  readonly brief: string;
  readonly text: string;
}

function CollapsedText({ name, brief, text }: FoldedProps): ReactNode {
  const summary = (
    <span className={styles.brief}>
      {name !== undefined && <code className={styles.tool}>{name}</code>} {brief}
    </span>
  );
  return (
    <Disclosure summary={summary}>
      <pre className={styles.result}>{prettyJson(text)}</pre>
    </Disclosure>
  );
}

function CallLine({ call, depth }: { readonly call: CallView; readonly depth: number }): ReactNode {
  return (
    <li className={styles.call} data-status={call.status} style={{ paddingLeft: `${depth * 0.75}rem` }}>
      <span className={styles.kind}>{call.kind}</span>
      <span className={styles.name}>{call.name}</span>
      <span className={styles.time}>
        {call.endedAt === null ? "running" : formatDuration(call.endedAt - call.startedAt)}
      </span>
    </li>
  );
}

function depthOf(call: CallView, calls: readonly CallView[]): number {
  const parents = new Map(calls.map(({ callId, parentId }) => [callId, parentId]));
  let depth = 0;
  for (let at = call.parentId; at !== null && depth < 6; at = parents.get(at) ?? null) depth += 1;
  return depth;
}
