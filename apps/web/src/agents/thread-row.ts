import type { ThreadRow } from "../service/queries/threads";
import { isGeneratedName } from "./is-generated-name";

interface Named {
  readonly threadName?: string | undefined;
  readonly visibility?: "account" | undefined;
}

/** Tells it from every other thread of its agent: a private and a shared one may have one name. */
export function rowKey({ threadName, visibility }: Named): string {
  return `${visibility ?? "private"} ${threadName}`;
}

/** What a person calls it. A thread without messages has its name alone, if it was given one. */
export function titleOf({ title, threadName }: Pick<ThreadRow, "title" | "threadName">): string {
  return title ?? (isGeneratedName(threadName) ? "Untitled thread" : threadName);
}
