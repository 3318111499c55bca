// npm run chaos -- [--minutes M] [--seed S] [--rooms N] [--json]
import { randomInt } from "node:crypto";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { ensureReady } from "../scripts/workspace.mjs";

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "..");

const HELP = `Random faults under real load, and a checker that holds every view against the log.

  npm run chaos -- [--minutes M] [--seed S] [--rooms N] [--without KINDS] [--json]

Instances with mixed roles on a PostgreSQL with a synchronous replica, a Redis and a real LiteLLM, all behind proxies that cut and
swallow. Three tenants ask, leave, resend, stop, queue, preempt and answer, and viewers read along, some of them slowly, while
processes are killed, paused and deployed anew, the database fails over, connections go half-open and clocks jump. Then everything is
mended, and each viewer must have been told the log, once and in order; the log must agree with the checkpoint, and every receipt
with LiteLLM's own record.

Options
  --minutes M   how long faults go on (10); calm and comparison come on top
  --seed S      the plan of faults and deeds; without it one is chosen, and printed
  --rooms N     threads that are worked in at the same time (12)
  --without K   faults that are left out, separated by commas: clockJump,failover
  --json        the last line is one JSON object; progress goes to stderr
  --help        this text

The exit code is 1 if anything was lost, doubled, hung, stuck or charged wrongly. The history is then in chaos/failures, with an
explanation and the command that runs the same plan again. Needs PostgreSQL's embedded server, redis-server, Python 3.11 for LiteLLM, and libfaketime for
jumps of the clock; what is missing is skipped and said, or with CI=true a failure.
`;

async function main() {
  const { values } = parseArgs({
    options: {
      minutes: { type: "string" },
      seed: { type: "string" },
      rooms: { type: "string" },
      without: { type: "string" },
      json: { type: "boolean" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help) return void process.stdout.write(HELP);
  const minutes = number("minutes", values.minutes) ?? 10;
  const seed = number("seed", values.seed) ?? randomInt(2 ** 31);
  const roomsAtOnce = number("rooms", values.rooms) ?? 12;
  const progress = (line) => (values.json ? process.stderr : process.stdout).write(`${line}\n`);
  await ensureReady({ forTests: true, withConsole: false });
  progress(`seed ${seed}`);
  // The rigs are TypeScript, which Node 20 does not run.
  const { createViteServer } = await import("vitest/node");
  const vite = await createViteServer({
    root: ROOT,
    configFile: false,
    appType: "custom",
    logLevel: "error",
    server: { middlewareMode: true, hmr: false, watch: null, ws: false },
    optimizeDeps: { noDiscovery: true },
  });
  try {
    const { runProgram, tableOf } = await vite.ssrLoadModule("/chaos/program.ts");
    const isContinuous = process.env.CI === "true";
    const result = await runProgram({
      seed,
      minutes,
      roomsAtOnce,
      isContinuous,
      without: values.without?.split(",") ?? [],
      progress,
    });
    for (const finding of result.findings.slice(0, 20)) progress(finding);
    if (result.folder !== undefined) progress(`The history is in ${result.folder}.`);
    if (values.json) process.stdout.write(`${JSON.stringify(result.report)}\n`);
    else process.stdout.write(`${tableOf(result.report)}\n`);
    process.exitCode = result.findings.length > 0 ? 1 : 0;
  } finally {
    await vite.close();
  }
}

/** What a run that failed left open must not keep the process. */
function leave() {
  process.stdout.write("", () => process.exit());
}

function number(name, text) {
  if (text === undefined) return undefined;
  if (!/^\d{1,15}(\.\d+)?$/.test(text)) throw new Error(`--${name} takes a number, not "${text}".`);
  return Number(text);
}

// What the rigs started ends with the process, which a signal alone would not tell them.
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(130));

main()
  .catch((error) => {
    process.stderr.write(`${error.stack ?? error.message}\n`);
    process.exitCode = 2;
  })
  .finally(leave);
