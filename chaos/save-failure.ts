import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type ThreadHistory, threadLabel } from "./check/history.js";
import type { ChaosResult } from "./run-chaos.js";

const FAILURES = fileURLToPath(new URL("./failures/", import.meta.url));

/** Writes down a history that failed, so that it can be read and run again. Gives its folder. */
export function saveFailure(result: ChaosResult, command: string, now: Date): string {
  const folder = join(FAILURES, `${result.seed}-${now.toISOString().replaceAll(/[:.]/g, "-")}`);
  mkdirSync(folder, { recursive: true });
  const write = (name: string, content: unknown) =>
    writeFileSync(
      join(folder, name),
      typeof content === "string" ? content : `${JSON.stringify(content, writable, 2)}\n`,
    );
  write("explanation.md", explain(result, command));
  write("schedule.json", result.plan);
  write("faults.json", result.faults);
  write("findings.json", result.findings);
  if (result.history.charges) write("charges.json", result.history.charges);
  for (const [name, log] of Object.entries(result.instanceLogs)) write(`instance-${name}.log`, log);
  const failed = new Set(result.findings.map(({ thread }) => thread));
  for (const thread of result.history.threads.filter((each) => failed.has(threadLabel(each))))
    write(`thread-${threadLabel(thread).replaceAll("/", "-")}.json`, readable(thread));
  return folder;
}

/** The first disagreement in words, what was broken around then, and how to see it again. */
function explain({ findings, faults, seed }: ChaosResult, command: string): string {
  const [first] = findings;
  const lines = findings.map(({ kind, thread, words }) => `- ${kind}: ${thread} ${words}`);
  const broken = [...faults]
    .sort((one, other) => one.from - other.from)
    .map(({ kind, hit, from, to }) => `- ${seconds(from)} to ${seconds(to)}: ${kind}, ${hit}`);
  return `# Seed ${seed}

First disagreement: ${first ? `${first.kind} in ${first.thread || "the books"}: ${first.words}` : "none"}.

The same plan again, as far as processes allow:

    ${command}

## All disagreements

${lines.join("\n")}

## What was broken, by the time since the beginning

${broken.join("\n")}
`;
}

/** Frames as one line each: a thread has thousands. */
function readable(thread: ThreadHistory): unknown {
  const lines = (frames: ThreadHistory["log"]["envelopes"]) =>
    frames.map(({ epoch, seq, n, text }) => `${epoch}.${seq}.${n} ${text}`);
  return {
    ...thread,
    log: { envelopes: lines(thread.log.envelopes), "ag-ui": lines(thread.log["ag-ui"]) },
    viewers: thread.viewers.map((viewer) => ({ ...viewer, connections: viewer.connections.map(lines) })),
  };
}

function writable(_: string, value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
