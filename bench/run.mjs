// npm run bench -- NAME [--json] [--quick] [--only PARTS] [--profile], npm run bench -- all [--quick] [--from DIR]
import { parseArgs } from "node:util";
import { ensureReady } from "../scripts/workspace.mjs";
import { benchAll } from "./all.mjs";
import { machine } from "./machine.mjs";
import { printReport } from "./print-report.mjs";

const BENCHES = {
  translate: {
    about: "LangGraph events to AG-UI: tokens per CPU second and bytes, against @ag-ui/langgraph",
    load: () => import("./translate/translate-bench.mjs"),
  },
  log: {
    about: "the thread log: appends, tails and joins per store, against bare pg calls",
    load: () => import("./log/log-bench.mjs"),
  },
  executor: {
    about:
      "graphs behind the port: first token and tokens per second, against bare graph.stream and the stock server",
    load: () => import("./executor/executor-bench.mjs"),
  },
  server: {
    about:
      "the service over HTTP: first token, CPU, idle viewers, reconnects, statements, against bare and stock ones",
    hasParts: true,
    load: () => import("./server/server-bench.mjs"),
  },
  client: {
    about:
      "the client in the page: cost per token whatever the history, and bundle size, against @ag-ui/client",
    load: () => import("./client/client-bench.mjs"),
  },
  load: {
    about:
      "a real service under load: lag, loss, CPU, burning and killed workers, against LangGraph dev and CopilotKit",
    load: () => import("./load/load-bench.mjs"),
  },
  web: {
    about: "the console: first-load JS, long tasks while a stream is shown on a slow machine, warm npm start",
    load: () => import("./web/web-bench.mjs"),
  },
};

const LIST = Object.entries(BENCHES).map(([name, { about }]) => `  ${name.padEnd(12)}${about}`);
const HELP = `Measured comparisons with peers, as ratios from one run on this machine.

  npm run bench -- NAME [--quick] [--json]
  npm run bench -- all [--quick] [--from DIR]

${LIST.join("\n")}
  all         each of them; keeps their JSON in bench/results, and writes docs/benchmarks.md

Options
  --quick   a fifth of the time, for a first look
  --json    the last line is one JSON object; progress goes to stderr
  --only    of server: these parts, separated by commas: first-token, run-cpu, frame-cost, reconnect, idle-memory, metering, statements
  --profile of server: a CPU profile of the service with 50 runs at once, and its ten most expensive functions
  --from    of all: only writes the page, from JSON that was kept
  --help    this text
`;

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      json: { type: "boolean" },
      quick: { type: "boolean" },
      only: { type: "string" },
      profile: { type: "boolean" },
      from: { type: "string" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help) return void process.stdout.write(HELP);
  const [name, ...more] = positionals;
  if (name === "all" && more.length === 0) {
    return benchAll({
      names: Object.keys(BENCHES),
      quick: values.quick ?? false,
      from: values.from,
      progress: (text) => process.stdout.write(`${text}\n`),
    });
  }
  if (name === undefined || !Object.hasOwn(BENCHES, name) || more.length > 0) {
    const asked = name === undefined ? "Which bench?" : `No bench "${positionals.join(" ")}".`;
    throw new Error(`${asked} There is: ${Object.keys(BENCHES).join(", ")}, all.`);
  }
  if ((values.only ?? values.profile) !== undefined && !BENCHES[name].hasParts)
    throw new Error(`--only and --profile are for server, not for ${name}.`);
  const progress = (text) => (values.json ? process.stderr : process.stdout).write(`${text}\n`);
  await ensureReady({ forTests: true, withConsole: name === "web" });
  const { runBench } = await BENCHES[name].load();
  const report = {
    name,
    machine: machine(),
    ...(await runBench({
      quick: values.quick ?? false,
      progress,
      ...(values.only !== undefined && { only: values.only.split(",") }),
      ...(values.profile && { profile: true }),
    })),
  };
  if (values.json) process.stdout.write(`${JSON.stringify(report)}\n`);
  else printReport(report);
}

main().catch((error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 2;
});
