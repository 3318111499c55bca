import { z } from "zod";
import { askService, segment } from "../service/ask-service";
import { type ThreadRow, threadListSchema } from "./thread-row";

export interface ThreadQuery {
  readonly search?: string;
  readonly archived?: boolean;
  readonly limit: number;
}

/** Newest activity first. */
export function askThreads(
  agentId: string,
  { search, archived, limit }: ThreadQuery,
  signal: AbortSignal,
): Promise<z.output<typeof threadListSchema>> {
  const query = new URLSearchParams({ limit: String(limit) });
  if (search) query.set("search", search);
  if (archived) query.set("archived", "true");
  return askService(`/agents/${segment(agentId)}/threads?${query}`, threadListSchema, { signal });
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
