import { BILLING_MIGRATIONS, BILLING_MIGRATIONS_RECORD } from "@throughline/billing";
import type { Migration } from "@throughline/thread-log";
import { ATTACHMENT_CHUNK_MIGRATION, ATTACHMENT_MIGRATION } from "../attachments/attachment-migration.js";
import { AUDIT_MIGRATION } from "../audit/audit-migration.js";
import { CRON_MIGRATION, UNREADABLE_CRON_MIGRATION } from "../crons/cron-migration.js";
import { CLOSURE_MIGRATION, DELETION_MIGRATION, TURN_MIGRATION } from "../deletion/deletion-migration.js";
import { FEEDBACK_MIGRATION } from "../feedback/feedback-migration.js";
import { SEARCH_BACKFILL_MIGRATION, SEARCH_MIGRATION } from "../search/search-migration.js";

/** The record of what was applied: thread-log keeps its own beside it. */
export const SERVER_MIGRATIONS_RECORD = "server_migrations";

/** Tables of the service itself, each beside the concept it belongs to. Ids are unique and never reused. */
export const SERVER_MIGRATIONS: readonly Migration[] = [
  CRON_MIGRATION,
  ATTACHMENT_MIGRATION,
  DELETION_MIGRATION,
  CLOSURE_MIGRATION,
  UNREADABLE_CRON_MIGRATION,
  AUDIT_MIGRATION,
  TURN_MIGRATION,
  ATTACHMENT_CHUNK_MIGRATION,
  FEEDBACK_MIGRATION,
  SEARCH_MIGRATION,
  SEARCH_BACKFILL_MIGRATION,
];

/** All tables beside the log's: each set has a record of its own. */
export const SERVICE_MIGRATIONS = [
  { record: SERVER_MIGRATIONS_RECORD, migrations: SERVER_MIGRATIONS },
  { record: BILLING_MIGRATIONS_RECORD, migrations: BILLING_MIGRATIONS },
] as const;
