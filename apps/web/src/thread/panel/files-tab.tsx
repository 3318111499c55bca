"use client";

import type { ThreadSnapshot } from "@throughline/agent-client";
import { useThread, useThreadState } from "@throughline/agent-react";
import type { Json, JsonObject } from "@throughline/ai-core";
import { type ReactNode, useMemo, useState } from "react";
import { CodeBlock } from "../../agent-ui/markdown/code-block";
import { Markdown } from "../../agent-ui/markdown/markdown";
import { CopyButton } from "../../agent-ui/primitives/copy-button";
import { Dialog } from "../../agent-ui/primitives/dialog";
import { Icon } from "../../agent-ui/primitives/icon";
import { RelativeTime } from "../../agent-ui/primitives/time";
import { PanelSection } from "../../shell/page-frame";
import styles from "./files-tab.module.css";

const WORDS = {
  pending: "To do",
  in_progress: "Under way",
  left: "Not finished",
  completed: "Done",
} as const;

/** Todos and files of a deep agent's state. */
export function FilesTab(): ReactNode {
  const rawFiles = useThreadState(filesOf);
  const rawTodos = useThreadState(todosOf);
  const files = useMemo(() => readFiles(rawFiles === undefined ? {} : { files: rawFiles }), [rawFiles]);
  const todos = useMemo(() => readTodos(rawTodos === undefined ? {} : { todos: rawTodos }), [rawTodos]);
  const isRunning = useThread(isAtWork);
  const [opened, setOpened] = useState<string>();
  const done = todos.filter(({ status }) => status === "completed").length;
  return (
    <>
      {todos.length > 0 && (
        <PanelSection title="Todos" note={`${done} of ${todos.length} done`}>
          {!isRunning && done < todos.length && (
            <p className={styles.rest}>The agent is not working on these now.</p>
          )}
          <ol className={styles.todos}>
            {todos.map((todo, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a todo is identified by its index only
              <TodoItem key={at} todo={todo} isRunning={isRunning} />
            ))}
          </ol>
        </PanelSection>
      )}
      {files.length > 0 && (
        <PanelSection title="Files" note={files.length}>
          <ul className={styles.files}>
            {files.map(({ path, content }) => (
              <li key={path}>
                <button type="button" className={styles.file} onClick={() => setOpened(path)}>
                  <Icon name="file" />
                  <span className={styles.path}>{path}</span>
                  <span className={styles.size}>{formatSize(content)}</span>
                </button>
              </li>
            ))}
          </ul>
        </PanelSection>
      )}
      <FileViewer file={files.find(({ path }) => path === opened)} onClose={() => setOpened(undefined)} />
    </>
  );
}

function TodoItem({ todo, isRunning }: { readonly todo: AgentTodo; readonly isRunning: boolean }): ReactNode {
  const status = todoStatus(todo, isRunning);
  return (
    <li className={styles.todo} data-status={status}>
      <span className={styles.mark} role="img" aria-label={WORDS[status]}>
        {status === "completed" && <Icon name="check" size={12} />}
      </span>
      <span className={styles.content}>{todo.content}</span>
      {status === "left" && <span className={styles.left}>{WORDS[status]}</span>}
    </li>
  );
}

function isAtWork({ view: { run } }: ThreadSnapshot): boolean {
  return run?.status === "running";
}

function formatSize(content: string): string {
  const bytes = new TextEncoder().encode(content).length;
  return bytes < 1_024 ? `${bytes} B` : `${(bytes / 1_024).toFixed(1)} KB`;
}

const filesOf = ({ files }: JsonObject) => files;
const todosOf = ({ todos }: JsonObject) => todos;

interface FileViewerProps {
  /** The current file, which changes while the agent writes it. */
  readonly file: AgentFile | undefined;
  readonly onClose: () => void;
}

function FileViewer({ file, onClose }: FileViewerProps): ReactNode {
  return (
    <Dialog
      isOpen={file !== undefined}
      onClose={onClose}
      title={file?.path ?? ""}
      size="large"
      actions={file && <CopyButton label="Copy the file" text={() => file.content} isWordy />}
    >
      {file?.modifiedAt !== undefined && (
        <p className={styles.written}>
          Written <RelativeTime at={file.modifiedAt} />
        </p>
      )}
      {file && <Content file={file} />}
    </Dialog>
  );
}

function Content({ file }: { readonly file: AgentFile }): ReactNode {
  const ending = /\.(\w+)$/.exec(file.path)?.[1]?.toLowerCase() ?? "";
  if (ending === "md" || file.mimeType === "text/markdown") return <Markdown text={file.content} />;
  return <CodeBlock code={file.content} language={ending} isGrowing={false} />;
}

interface AgentFile {
  readonly path: string;
  readonly content: string;
  readonly mimeType: string | undefined;
  /** Time as the agent wrote it. */
  readonly modifiedAt: string | undefined;
}

interface AgentTodo {
  readonly content: string;
  readonly status: "pending" | "in_progress" | "completed";
}

/** Reads the files of a deep agent's state: by path, as text, as lines, or as an object with either and metadata. */
export function readFiles(state: JsonObject): readonly AgentFile[] {
  const { files } = state;
  if (!isObject(files)) return [];
  return Object.entries(files)
    .flatMap(([path, value]) => readFile(path, value) ?? [])
    .sort((a, b) => a.path.localeCompare(b.path));
}

function readFile(path: string, value: Json | undefined): AgentFile | undefined {
  const facts: JsonObject = isObject(value) ? value : { content: value ?? null };
  const content = textOf(facts.content);
  if (content === undefined) return undefined;
  return {
    path,
    content,
    mimeType: typeof facts.mimeType === "string" ? facts.mimeType : undefined,
    modifiedAt: typeof facts.modified_at === "string" ? facts.modified_at : undefined,
  };
}

function textOf(content: Json | undefined): string | undefined {
  if (typeof content === "string") return content;
  return Array.isArray(content) && content.every((line) => typeof line === "string")
    ? content.join("\n")
    : undefined;
}

/** Reads the todos of a deep agent's state. */
export function readTodos({ todos }: JsonObject): readonly AgentTodo[] {
  if (!Array.isArray(todos)) return [];
  return todos.flatMap((todo): AgentTodo[] => {
    if (!isObject(todo) || typeof todo.content !== "string") return [];
    const { status } = todo;
    return [
      {
        content: todo.content,
        status: status === "in_progress" || status === "completed" ? status : "pending",
      },
    ];
  });
}

/**
 * Status of a todo. "In progress" in the state holds only during a run: after a fork or a stopped run the todo is left
 * unfinished.
 */
export function todoStatus({ status }: AgentTodo, isRunning: boolean): AgentTodo["status"] | "left" {
  return status === "in_progress" && !isRunning ? "left" : status;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
