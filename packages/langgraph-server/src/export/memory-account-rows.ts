import { type JsonObject, jsonObjectSchema } from "@throughline/ai-core";
import { type MemoryDatabase, subjectKey } from "@throughline/thread-log";
import { attachmentsInMemory } from "../attachments/memory-attachment-store.js";
import { auditInMemory } from "../audit/memory-audit-store.js";
import { cronsInMemory } from "../crons/memory-cron-store.js";
import { deletionsInMemory } from "../deletion/memory-deletion-store.js";
import { feedbackInMemory } from "../feedback/memory-feedback-store.js";
import type { AccountRows, ExportScope, RowKind } from "./account-rows.js";

/** In memory every kind is one page. */
export function createMemoryAccountRows(database: MemoryDatabase): AccountRows {
  return {
    async page(kind, scope) {
      return { rows: rowsOf(database, kind, scope).map(asJson), next: undefined };
    },
  };
}

function rowsOf(database: MemoryDatabase, kind: RowKind, scope: ExportScope): readonly object[] {
  const isOwn = (row: { readonly account: string; readonly subject?: string | undefined }) =>
    row.account === scope.account && (scope.subject === undefined || subjectKey(row) === scope.subject);
  const named = ({
    threadId,
    subject,
  }: {
    readonly threadId: string;
    readonly subject?: string | undefined;
  }) => ({
    threadId,
    subject: subject ?? null,
  });
  switch (kind) {
    case "threads": {
      const living = [...database.threads].filter(
        ([, { thread, deleted, fence }]) => isOwn(thread) && !deleted && fence > 0n,
      );
      return living.map(([key, { thread, stateKey, createdAt }]): JsonObject => {
        const listing = database.listings.get(key);
        return {
          ...named(thread),
          stateKey,
          graphId: listing?.graphId ?? null,
          name: listing?.threadName ?? null,
          title: listing?.title ?? null,
          derivedTitle: listing?.derivedTitle ?? null,
          isArchived: listing?.isArchived ?? null,
          status: listing?.status ?? null,
          createdAt: iso(createdAt),
          lastActivityAt: iso(listing?.lastActivityAt ?? createdAt),
        };
      });
    }
    case "runs":
      return [...database.runs.values()]
        .filter(({ thread }) => isOwn(thread))
        .map(({ thread, token: _, owner: __, leaseUntil: ___, presumedDead: ____, alias, ...run }) => ({
          ...run,
          ...named(thread),
          clientRunId: alias ?? null,
        }));
    case "questions":
      return [...database.interrupts].flatMap(([key, interrupts]) => {
        const thread = database.threads.get(key)?.thread;
        return thread && isOwn(thread)
          ? [...interrupts.values()].map((interrupt) => ({ ...interrupt, ...named(thread) }))
          : [];
      });
    case "crons":
      return cronsInMemory(database)
        .filter(({ cron }) => isOwn(cron))
        .map(({ cron }) => cron);
    case "ticks":
      return cronsInMemory(database)
        .filter(({ cron }) => isOwn(cron))
        .flatMap(({ ticks }) => ticks);
    case "files":
      return attachmentsInMemory(database)
        .filter(({ thread }) => isOwn(thread))
        .map(({ thread, attachment }) => ({ ...attachment, ...named(thread) }));
    case "feedback":
      return feedbackInMemory(database)
        .filter(
          ({ thread, author }) =>
            isOwn(thread) ||
            (author !== undefined && author === scope.subject && thread.account === scope.account),
        )
        .map(({ thread, ...feedback }) => ({ ...feedback, ...named(thread) }));
    case "receipts":
      return deletionsInMemory(database).filter(isOwn);
    case "audit":
      return auditInMemory(database).filter(isOwn);
  }
}

/** As a database would keep it: without what is undefined. */
function asJson(row: object): JsonObject {
  return jsonObjectSchema.parse(JSON.parse(JSON.stringify(row)));
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
