import type { JsonObject } from "@throughline/ai-core";

/** Whose data is exported: everything of an account, or of one subject of it. */
export interface ExportScope {
  readonly account: string;
  /** `undefined` is every subject. */
  readonly subject: string | undefined;
}

/** Kinds of rows that name an account; each is a file of the archive. */
export const ROW_KINDS = [
  "threads",
  "runs",
  "questions",
  "crons",
  "ticks",
  "files",
  "feedback",
  "receipts",
  "audit",
] as const;
export type RowKind = (typeof ROW_KINDS)[number];

export interface RowPage {
  readonly rows: readonly JsonObject[];
  /** Pass it as `after` for the next page; `undefined` on the last. */
  readonly next: string | undefined;
}

/**
 * Rows of an account by kind, as they are stored: one that can't be decoded is exported like any other. A row that names a
 * thread or a file has `threadId`, and `subject` (null: shared by the account).
 */
export interface AccountRows {
  page(kind: RowKind, scope: ExportScope, after?: string): Promise<RowPage>;
}

export async function* everyRow(
  rows: AccountRows,
  kind: RowKind,
  scope: ExportScope,
): AsyncGenerator<JsonObject> {
  let after: string | undefined;
  do {
    const page = await rows.page(kind, scope, after);
    yield* page.rows;
    after = page.next;
  } while (after !== undefined);
}
