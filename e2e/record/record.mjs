// Records real LangGraph streams as fixtures: npm run record [-- --only chat-plain,poet] [--log]
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { ensureReady } from "../../scripts/workspace.mjs";
import { compact, compactLine } from "./compact-line.mjs";
import { startRecordServer } from "./record-server.mjs";
import { SCENARIOS } from "./scenarios.mjs";

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const RECORDINGS = join(ROOT, "packages/stream-adapter/fixtures/recordings");
const UNABRIDGED = join(ROOT, "bench/translate/recordings");
const LARGEST_FIXTURE = 150_000;

/** Both dialects in one stream, so that the very same run can be read in either. */
const STREAM_MODES = [
  "events",
  "messages-tuple",
  "updates",
  "values",
  "custom",
  "tasks",
  "tools",
  "checkpoints",
];

const HELP = `Records the streams of real graphs on the official dev server, with the offline model.

  npm run record                            all scenarios
  npm run record -- --only poet,cancel      only the scenarios that write these fixtures
  npm run record -- --log                   show the server's own log

Writes ${relative(ROOT, RECORDINGS)}/NAME.jsonl and NAME.final.json.
`;

async function recordTurn(client, graph, threadId, turn) {
  const before = await client.threads.getState(threadId, undefined, { subgraphs: true });
  const open = before.tasks.flatMap((task) => task.interrupts);
  const answer = typeof turn.resume === "function" ? turn.resume(open) : turn.resume;
  const start = answer === undefined ? { input: turn.input } : { command: { resume: answer } };
  const began = performance.now();
  const lines = [];
  let runId;
  let tokens = 0;
  const stream = client.runs.stream(threadId, graph, {
    ...start,
    streamMode: STREAM_MODES,
    streamSubgraphs: true,
    // Resumable, because on this server a second look at a run that is not would steal events from the first.
    streamResumable: true,
    onRunCreated: (run) => {
      runId = run.run_id;
    },
    ...(turn.configurable ? { config: { configurable: turn.configurable } } : {}),
  });
  let stopping;
  for await (const { event, data } of stream) {
    lines.push({ t: performance.now() - began, event, data });
    if (event.startsWith("messages")) tokens++;
    if (tokens === turn.cancelAfterTokens) stopping ??= client.runs.cancel(threadId, runId);
  }
  await stopping;
  const run = await settled(client, threadId, runId);
  const [state, thread] = await Promise.all([
    client.threads.getState(threadId, undefined, { subgraphs: true }),
    client.threads.get(threadId),
  ]);
  return {
    lines,
    final: {
      graph,
      threadId,
      runId,
      ...start,
      before: { values: before.values, interrupts: open, checkpoint: before.checkpoint },
      run: { status: run.status },
      thread: { status: thread.status },
      state,
    },
  };
}

/** A cancelled run's stream ends before its row says so. */
async function settled(client, threadId, runId) {
  for (;;) {
    const run = await client.runs.get(threadId, runId);
    if (run.status !== "pending" && run.status !== "running") return run;
  }
}

function write(turn, { lines, final }) {
  const text = lines.map((line) => `${JSON.stringify(compactLine(line))}\n`).join("");
  writeFileSync(join(RECORDINGS, `${turn.record}.jsonl`), text);
  writeFileSync(join(RECORDINGS, `${turn.record}.final.json`), `${JSON.stringify(compact(final))}\n`);
  if (turn.unabridged) {
    const whole = lines
      .map(({ t, event, data }) => `${JSON.stringify({ t: Math.round(t), event, data })}\n`)
      .join("");
    writeFileSync(join(UNABRIDGED, `${turn.record}.jsonl`), whole);
  }
  const size = Buffer.byteLength(text);
  const note = size > LARGEST_FIXTURE ? "  larger than a fixture should be" : "";
  process.stdout.write(
    `${turn.record.padEnd(28)}${String(lines.length).padStart(5)} lines ${(size / 1000).toFixed(1).padStart(7)} KB  run ${final.run.status}, thread ${final.thread.status}${note}\n`,
  );
}

async function main() {
  const { values } = parseArgs({
    options: {
      only: { type: "string" },
      log: { type: "boolean" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help) return void process.stdout.write(HELP);
  const known = SCENARIOS.flatMap(({ turns }) => turns.flatMap((turn) => turn.record ?? []));
  const wanted = values.only?.split(",") ?? known;
  const unknown = wanted.filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw new Error(`No scenario writes ${unknown.join(", ")}. There are: ${known.join(", ")}.`);
  await ensureReady({ forTests: true });
  // Only now is it there.
  const { Client } = await import("@langchain/langgraph-sdk");
  mkdirSync(RECORDINGS, { recursive: true });
  mkdirSync(UNABRIDGED, { recursive: true });
  const server = await startRecordServer({ log: values.log ?? false });
  try {
    const client = new Client({ apiUrl: server.url, callerOptions: { maxRetries: 0 } });
    for (const { graph, turns } of SCENARIOS) {
      if (!turns.some((turn) => wanted.includes(turn.record))) continue;
      const { thread_id: threadId } = await client.threads.create();
      for (const turn of turns) {
        const recording = await recordTurn(client, graph, threadId, turn);
        if (turn.record !== undefined) write(turn, recording);
      }
    }
  } finally {
    await server.stop();
  }
}

main().catch((error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 2;
});
