import { threadCall } from "@throughline/agent-client";
import * as z from "zod/mini";
import { askService, segment } from "../service/ask-service";
import type { ThreadPage } from "./merge-rows";
import { type ThreadRow, threadPageSchema } from "./thread-row";

export interface ThreadQuery {
  /** Those of the account beside the caller's own; for callers who have threads of their own. */
  readonly withShared?: boolean | undefined;
  readonly search?: string;
  readonly archived?: boolean;
  readonly status?: ThreadRow["status"];
  readonly limit: number;
  /** `next` of the page before. */
  readonly after?: string | undefined;
}

/** Newest activity first. */
export async function askThreads(
  agentId: string,
  { withShared, search, archived, status, limit, after }: ThreadQuery,
  signal: AbortSignal,
): Promise<ThreadPage> {
  const query = new URLSearchParams({ limit: String(limit) });
  if (withShared) query.set("visibility", "all");
  if (search) query.set("search", search);
  if (archived) query.set("archived", "true");
  if (status) query.set("status", status);
  if (after) query.set("after", after);
  const page = await askService(`/agents/${segment(agentId)}/threads?${query}`, threadPageSchema, { signal });
  if (withShared) return page;
  return { ...page, threads: page.threads.map((row) => ({ ...row, visibility: undefined })) };
}

type Change = { readonly title: string | null } | { readonly archived: boolean };

export async function changeThread(row: ThreadRow, change: Change): Promise<void> {
  await askService(pathOf(row), z.unknown(), { method: "PATCH", body: change });
}

export async function deleteThread(row: ThreadRow): Promise<void> {
  await askService(pathOf(row), z.unknown(), { method: "DELETE" });
}

function pathOf({ agentId, threadName, visibility }: ThreadRow): string {
  return threadCall({ agentId, threadId: threadName, visibility });
}
