// Takes raw captures of other servers and versions into the fixtures: node e2e/record/compact-captures.mjs FOLDER
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { compactLine, compactPayload, compact as compactValue } from "./compact-line.mjs";

const TARGET = resolve(
  dirname(fileURLToPath(import.meta.url)),
  "../../packages/stream-adapter/fixtures/captures",
);

/** Modes and protocols that no decoder reads: they must only do no harm. */
const UNREAD = [/^v2\./, /\.messages(\.nosub)?\.jsonl$/, /debug\.jsonl$/, /events\.v3/];

/** `graph.stream` yields tuples, `streamEvents` bare events, a server's stream has named events. */
function compactAny(line) {
  if (Array.isArray(line)) {
    const [ns, mode, data] = line;
    return [ns, mode, compactValue(compactPayload(mode, data))];
  }
  if (typeof line.event === "string" && line.event.startsWith("on_"))
    return compactValue(compactPayload("events", line));
  const { id, ...rest } = line;
  return "data" in line ? { ...compactLine(rest), ...(id === undefined ? {} : { id }) } : compactValue(line);
}

function main() {
  const [source] = process.argv.slice(2);
  if (source === undefined) throw new Error("Usage: node e2e/record/compact-captures.mjs FOLDER");
  rmSync(TARGET, { recursive: true, force: true });
  mkdirSync(join(TARGET, "unread"), { recursive: true });
  for (const name of readdirSync(source)) {
    const text = readFileSync(join(source, name), "utf8");
    if (name.endsWith(".json")) {
      writeFileSync(join(TARGET, name), `${JSON.stringify(compactValue(JSON.parse(text)))}\n`);
    }
    if (!name.endsWith(".jsonl")) continue;
    const lines = text.split("\n").filter((line) => line.trim() !== "");
    const compacted = lines.map((line) => `${JSON.stringify(compactAny(JSON.parse(line)))}\n`).join("");
    writeFileSync(
      join(TARGET, UNREAD.some((pattern) => pattern.test(name)) ? "unread" : "", name),
      compacted,
    );
  }
}

main();
