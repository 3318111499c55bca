import type { RetentionReport } from "@throughline/langgraph-server/admin";
import {
  ATTACHMENT_SETTINGS,
  PLACE_SETTINGS,
  RETENTION_SETTINGS,
} from "@throughline/langgraph-server/settings";
import { defineCommand } from "../command.js";
import { effectiveSettings } from "../effective-settings.js";

const { databaseUrl, dataDir, redisUrl, attachmentsDir } = PLACE_SETTINGS;
const { unnamedAttachmentHours } = ATTACHMENT_SETTINGS;

export const retentionCommand = defineCommand({
  name: "retention",
  summary: "Deletes what is past its retention, or says how much that is",
  usage: "",
  help: [
    "One round over all threads, with the settings that `serve` would use: old entries of logs, ended runs, checkpoints with",
    "their blobs and writes, receipts of deletions, files that belong to no message. Every instance does the same about once an hour, so this is for looking",
    "before settings change, and for not waiting afterwards. It may run beside any number of instances.",
    "",
    "  throughline retention --dry-run",
    "  throughline retention --retention-checkpoints 20 --dry-run --json",
    "  throughline retention",
  ].join("\n"),
  settings: { databaseUrl, dataDir, redisUrl, attachmentsDir, unnamedAttachmentHours, ...RETENTION_SETTINGS },
  words: { min: 0, max: 0 },
  options: {
    "dry-run": { type: "boolean", doc: "says what would be deleted, and deletes nothing" },
    json: { type: "boolean", doc: "the counts as a JSON object" },
  },
  async run(input) {
    const { terminal, values, signal } = input;
    const { config } = await effectiveSettings(input);
    const { runRetention } = await import("@throughline/langgraph-server/admin");
    let failures = 0;
    const report = await runRetention(config, {
      isDryRun: values["dry-run"] === true,
      signal,
      onFailure(error) {
        failures += 1;
        const reason = error instanceof Error ? error.message : String(error);
        terminal.complain(`A thread could not be pruned: ${reason.replace(/\s+/g, " ")}`);
      },
    });
    terminal.print(values.json ? `${JSON.stringify(report)}\n` : textOf(report));
    return failures > 0 ? 1 : 0;
  },
});

function textOf({ dryRun, deleted, files, bytes }: RetentionReport): string {
  const sizes: Readonly<Record<string, number | undefined>> = { ...bytes };
  const ofFiles = Object.entries(files).map(([kind, count]) => [`${kind} files`, count] as const);
  const lines = [...Object.entries(deleted), ...ofFiles].map(([kind, count]) => {
    const size = sizes[kind];
    const said = size === undefined ? "" : `  ${(size / 1_000_000).toFixed(1)} MB`;
    return `  ${kind.padEnd(18)}${String(count).padStart(10)}${said}`;
  });
  const what = dryRun ? "Would be deleted (checkpoints' size includes blobs and writes)" : "Deleted";
  return [what, ...lines, ""].join("\n");
}
