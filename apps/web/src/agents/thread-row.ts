import * as z from "zod/mini";
import { isGeneratedName } from "./is-generated-name";

const threadRowSchema = z.object({
  threadName: z.string(),
  agentId: z.string(),
  /** `account`: shared by the account. Absent: the caller's own. */
  visibility: z.pipe(
    z.optional(z.enum(["private", "account"])),
    z.transform((told) => (told === "account" ? told : undefined)),
  ),
  title: z.nullable(z.string()),
  titledByPerson: z.boolean(),
  archived: z.boolean(),
  status: z.enum(["idle", "running", "waiting", "error"]),
  lastActivityAt: z.pipe(z.iso.datetime(), z.transform(Date.parse)),
});

/** A thread as lists show it. */
export type ThreadRow = Readonly<z.output<typeof threadRowSchema>>;

export const threadPageSchema = z.object({ threads: z.array(threadRowSchema), next: z.nullable(z.string()) });

interface Named {
  readonly threadName?: string | undefined;
  readonly visibility?: "account" | undefined;
}

/** Tells it from every other thread of its agent: a private and a shared one may have one name. */
export function rowKey({ threadName, visibility }: Named): string {
  return `${visibility ?? "private"} ${threadName}`;
}

/** What a person calls it; a thread in which nobody has said anything yet has its name alone, where somebody gave it one. */
export function titleOf({ title, threadName }: Pick<ThreadRow, "title" | "threadName">): string {
  return title ?? (isGeneratedName(threadName) ? "Untitled thread" : threadName);
}
