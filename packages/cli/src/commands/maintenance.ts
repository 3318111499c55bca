import type { Finding, RetentionReport } from "@throughline/langgraph-server/admin";
import {
  ATTACHMENT_SETTINGS,
  RETENTION_SETTINGS,
  SETTINGS,
  STORAGE_SETTINGS,
  showSettings,
} from "@throughline/langgraph-server/settings";
import { type CommandInput, defineCommand } from "../command.js";
import { serverClient } from "../server/api-client.js";
import { readStartConfig, startedWith } from "../server/local-admin.js";
import { type Span, type Tone, table } from "../terminal/terminal.js";

const MARKS: Readonly<Record<Finding["status"], readonly [Tone, string]>> = {
  ok: ["plain", "ok  "],
  warn: ["mark", "warn"],
  fail: ["bad", "fail"],
};

export const doctorCommand = defineCommand({
  name: "doctor",
  summary: "Checks what the server needs, and says what to type where something is wrong",
  usage: "",
  help: [
    "Node, settings, database, stored rows, Redis, LiteLLM, graphs, port and disk, with the settings that `serve` would use. It",
    "starts no server; an embedded PostgreSQL is started for the check, unless one runs, and stopped again. Ends with 1 if",
    "something must be mended. With --url, a server that runs is checked instead: that it answers, that it is ready, and that it",
    "knows who asks.",
    "",
    "  throughline doctor",
    "  throughline doctor --url https://agents.example",
    "  throughline doctor --json",
  ].join("\n"),
  settings: SETTINGS,
  words: { min: 0, max: 0 },
  options: { json: { type: "boolean", doc: "the findings as a JSON array" } },
  async run(input) {
    const { terminal, values } = input;
    const findings: Finding[] = [];
    for await (const finding of findingsOf(input)) {
      findings.push(finding);
      if (!values.json) terminal.show(lineOf(finding));
    }
    if (values.json) terminal.print(`${JSON.stringify(findings)}\n`);
    return findings.some(({ status }) => status === "fail") ? 1 : 0;
  },
});

async function* findingsOf(input: CommandInput): AsyncGenerator<Finding> {
  if (input.flags.url !== undefined) return yield* examineServer(input);
  const { examine } = await import("@throughline/langgraph-server/admin");
  yield* examine(startedWith(input));
}

/** The checks of a running server. Each needs the one before it. */
const SERVER_CHECKS = [
  { subject: "server", path: "/health", found: "answers" },
  { subject: "ready", path: "/ready", found: "reaches its stores and takes runs" },
  { subject: "sign-in", path: "/agents", found: "knows who asks, and lists its agents" },
] as const;

/** Checks a running server over HTTP, up to the first check that fails. */
async function* examineServer(input: CommandInput): AsyncGenerator<Finding> {
  const server = serverClient(input);
  for (const { subject, path, found } of SERVER_CHECKS) {
    try {
      await server.request("GET", path);
      yield { status: "ok", subject, said: `${server.url} ${found}` };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      yield {
        status: "fail",
        subject,
        said: reason,
        fix: `See what ${server.url}${path} says, and the server's log.`,
      };
      return;
    }
  }
}

function lineOf({ status, subject, said, fix }: Finding): readonly Span[] {
  const [tone, mark] = MARKS[status];
  const advice: readonly Span[] =
    fix === undefined ? [] : [{ tone: "dim", text: `\n                   ${fix}` }];
  return [
    { tone, text: mark },
    { tone: "plain", text: `  ${subject.padEnd(11)}  ${said}` },
    ...advice,
    { tone: "plain", text: "\n" },
  ];
}

export const configCommand = defineCommand({
  name: "config",
  summary: "Prints the settings in effect and where each came from, with secrets masked",
  usage: "",
  help: [
    "Takes the flags of `serve`, and reads the same variables and the same langgraph.json: what it prints is what `serve` would",
    "use. A value that `serve` would refuse is refused here.",
    "",
    "  throughline config",
    "  throughline config --json | jq -r '.[] | select(.origin != \"default\") | .env'",
  ].join("\n"),
  settings: SETTINGS,
  words: { min: 0, max: 0 },
  options: { json: { type: "boolean", doc: "as a JSON array" } },
  async run(input) {
    const { terminal, values } = input;
    const shown = showSettings((await readStartConfig(input)).settings);
    if (values.json) terminal.print(`${JSON.stringify(shown)}\n`);
    else {
      const rows = shown.map(({ env, value, origin, unset }) => [
        env,
        value ?? `(${unset.replaceAll("`", "")})`,
        origin === "default" ? "" : origin,
      ]);
      terminal.print(table([["SETTING", "VALUE", "FROM"], ...rows]));
    }
    return 0;
  },
});

const { databaseUrl, dataDir, redisUrl, attachmentsDir } = STORAGE_SETTINGS;
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
    const { config } = await readStartConfig(input);
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
    const sizeText = size === undefined ? "" : `  ${(size / 1_000_000).toFixed(1)} MB`;
    return `  ${kind.padEnd(18)}${String(count).padStart(10)}${sizeText}`;
  });
  const what = dryRun ? "Would be deleted (checkpoints' size includes blobs and writes)" : "Deleted";
  return [what, ...lines, ""].join("\n");
}

const { databaseUrl: epochsDatabaseUrl, databaseDirectUrl, dataDir: epochsDataDir } = STORAGE_SETTINGS;

export const renewEpochsCommand = defineCommand({
  name: "renew-epochs",
  summary: "After a restore that the service can't notice: makes positions that were lost invalid",
  usage: "",
  help: [
    "A restored dump, a recovery to a point in time and a promoted replica are noticed by themselves. A volume that was put back in",
    "place is not: say so with this command, once, before the first instance starts on it. Viewers who saw more than the backup",
    "holds are then shown the thread anew; all others go on where they were.",
    "",
    "  throughline renew-epochs",
  ].join("\n"),
  settings: { databaseUrl: epochsDatabaseUrl, databaseDirectUrl, dataDir: epochsDataDir },
  words: { min: 0, max: 0 },
  options: {},
  async run(input) {
    const { config } = await readStartConfig(input);
    const { renewAllEpochs } = await import("@throughline/langgraph-server/admin");
    const threads = await renewAllEpochs(config);
    input.terminal.print(`Renewed the epochs of ${threads} ${threads === 1 ? "thread" : "threads"}.\n`);
    return 0;
  },
});
