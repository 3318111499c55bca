import type { Json, JsonObject } from "@throughline/ai-core";

export interface AgentFile {
  readonly path: string;
  readonly content: string;
  readonly mimeType: string | undefined;
  /** As the agent wrote it. */
  readonly modifiedAt: string | undefined;
}

export interface AgentTodo {
  readonly content: string;
  readonly status: "pending" | "in_progress" | "completed";
}

/** Files that a deep agent keeps in its state: by path, as text, as lines, or with facts around either. */
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

/** What a deep agent means to do. */
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
 * How a todo stands. What a state calls "in progress" is so only while a run goes on: a fork, or a run that was stopped, left
 * it unfinished.
 */
export function todoStanding({ status }: AgentTodo, isRunning: boolean): AgentTodo["status"] | "left" {
  return status === "in_progress" && !isRunning ? "left" : status;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
