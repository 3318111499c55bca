"use client";

import type { ThreadSnapshot } from "@throughline/agent-client";
import { useThread, useThreadState } from "@throughline/agent-react";
import type { JsonObject } from "@throughline/ai-core";
import { type ReactNode, useMemo, useState } from "react";
import { Icon } from "../../design/icon";
import { PanelSection } from "../panel-section";
import { FileViewer } from "./file-viewer";
import styles from "./files-tab.module.css";
import { type AgentTodo, readFiles, readTodos, todoStanding } from "./read-files";

const WORDS = {
  pending: "To do",
  in_progress: "Under way",
  left: "Not finished",
  completed: "Done",
} as const;

/** What a deep agent means to do, and the files it keeps. */
export function FilesTab(): ReactNode {
  const kept = useThreadState(filesOf);
  const meant = useThreadState(todosOf);
  const files = useMemo(() => readFiles(kept === undefined ? {} : { files: kept }), [kept]);
  const todos = useMemo(() => readTodos(meant === undefined ? {} : { todos: meant }), [meant]);
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
              // biome-ignore lint/suspicious/noArrayIndexKey: a todo is known by its place alone
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
                  <span className={styles.size}>{sizeWords(content)}</span>
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
  const status = todoStanding(todo, isRunning);
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

function sizeWords(content: string): string {
  const bytes = new TextEncoder().encode(content).length;
  return bytes < 1_024 ? `${bytes} B` : `${(bytes / 1_024).toFixed(1)} KB`;
}

const filesOf = ({ files }: JsonObject) => files;
const todosOf = ({ todos }: JsonObject) => todos;
