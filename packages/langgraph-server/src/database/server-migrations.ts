import type { Migration } from "@throughline/thread-log";
import { ATTACHMENT_MIGRATION } from "../attachments/attachment-migration.js";
import { CRON_MIGRATION } from "../crons/cron-migration.js";
import { DELETION_MIGRATION } from "../deletion/deletion-migration.js";
import { THREAD_MIGRATION } from "../threads/thread-migration.js";

/** The record of what was applied: thread-log keeps its own beside it. */
export const SERVER_MIGRATIONS_RECORD = "server_migrations";

/** Tables of the service itself, each beside the concept it belongs to. Ids are unique and never reused. */
export const SERVER_MIGRATIONS: readonly Migration[] = [
  CRON_MIGRATION,
  THREAD_MIGRATION,
  ATTACHMENT_MIGRATION,
  DELETION_MIGRATION,
];
