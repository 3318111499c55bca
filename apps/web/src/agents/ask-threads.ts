import { z } from "zod";
import { askService, segment } from "../service/ask-service";
import type { ThreadPage } from "./merge-rows";
import { type ThreadRow, threadPageSchema } from "./thread-row";

export interface ThreadQuery {
  readonly search?: string;
  readonly archived?: boolean;
  readonly status?: ThreadRow["status"];
  readonly limit: number;
  /** `next` of the page before. */
  readonly after?: string | undefined;
}

/** Newest activity first. */
export function askThreads(
  agentId: string,
  { search, archived, status, limit, after }: ThreadQuery,
  signal: AbortSignal,
): Promise<ThreadPage> {
  const query = new URLSearchParams({ limit: String(limit) });
  if (search) query.set("search", search);
  if (archived) query.set("archived", "true");
  if (status) query.set("status", status);
  if (after) query.set("after", after);
  return askService(`/agents/${segment(agentId)}/threads?${query}`, threadPageSchema, { signal });
}

type Change = { readonly title: string | null } | { readonly archived: boolean };

export async function changeThread({ agentId, threadName }: ThreadRow, change: Change): Promise<void> {
  await askService(pathOf(agentId, threadName), z.unknown(), { method: "PATCH", body: change });
}

export async function deleteThread({ agentId, threadName }: ThreadRow): Promise<void> {
  await askService(pathOf(agentId, threadName), z.unknown(), { method: "DELETE" });
}

function pathOf(agentId: string, threadName: string): string {
  return `/agents/${segment(agentId)}/threads/${segment(threadName)}`;
}
