// npm run load -- --runs R --viewers V --minutes M
import { parseArgs } from "node:util";
import { ensureReady } from "../../scripts/workspace.mjs";
import { saveLoad, startMeasuring } from "../all.mjs";
import { machine } from "../machine.mjs";
import { findMax, sentenceOf } from "./find-max.mjs";
import { measureBurn, measureKill } from "./isolation.mjs";
import { measureLoad } from "./measure-load.mjs";
import { PEERS, withOurService, withSubject } from "./with-subject.mjs";

const HELP = `A real throughline serve on a real PostgreSQL, under load over HTTP.

  npm run load -- --runs 20 --viewers 3 --minutes 1

Each run types 20 tokens a second for 20 seconds, then another starts in a new thread. Commit lag is from the log's row to a
viewer; token lag from when a token was due to a viewer. Client, service and PostgreSQL share this machine; CPU is told apart.

Options
  --runs R         runs at once (10)
  --viewers V      viewers of each run, the one that started it included (2)
  --minutes M      how long it is measured (1)
  --warm S         seconds of the same load before that (5); compilers take about 40 for each process
  --processes N    so many processes that share a port
  --roles          one process with the role api, two workers
  --burn           beside a graph that burns CPU
  --kill           with --roles: one worker is killed in the middle
  --reconnect S    viewers drop their connection every S seconds and come back
  --find-max       steps up from R until p99 commit lag is over 250 ms, then twice that, then R again
  --peer NAME      the same load on langgraph or copilotkit, beside ours
  --save NAME      keeps the result as bench/results/load-NAME.json, for docs/benchmarks.md
  --json           the last line is one JSON object; progress goes to stderr
  --help           this text

Linux only: CPU and memory are read from /proc.
`;

const number = (values, name, otherwise) => {
  if (values[name] === undefined) return otherwise;
  const value = Number(values[name]);
  if (!(value > 0)) throw new Error(`--${name} must be a number above 0.`);
  return value;
};

async function main() {
  const { values } = parseArgs({
    options: {
      ...Object.fromEntries(
        ["runs", "viewers", "minutes", "warm", "processes", "reconnect", "peer", "save"].map((name) => [
          name,
          { type: "string" },
        ]),
      ),
      ...Object.fromEntries(
        ["roles", "burn", "kill", "find-max", "json"].map((name) => [name, { type: "boolean" }]),
      ),
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help) return void process.stdout.write(HELP);
  const { peer = "none", roles = false, burn = false, kill = false } = values;
  if (peer !== "none" && !Object.hasOwn(PEERS, peer))
    throw new Error(`No peer "${peer}". There is: ${Object.keys(PEERS).join(", ")}, none.`);
  if (kill && !roles)
    throw new Error("--kill needs --roles: without workers of their own all streams would end.");
  const progress = (text) => (values.json ? process.stderr : process.stdout).write(`${text}\n`);
  await ensureReady({ forTests: true, withConsole: false });
  const back = number(values, "reconnect", undefined);
  const load = {
    runs: number(values, "runs", 10),
    viewers: number(values, "viewers", 2),
    seconds: number(values, "minutes", 1) * 60,
    warmSeconds: number(values, "warm", 5),
    ...(back !== undefined && { comesBackEverySeconds: back }),
  };
  const serving = { roles, processes: number(values, "processes", 1) };
  const withCap = (most, work) =>
    withOurService({ ...serving, env: { THROUGHLINE_MAX_DRIVEN_RUNS: `${most}` } }, progress, work);
  const measure = (subject) => {
    if (values["find-max"]) return findMax(subject, { ...load, progress, withCap });
    if (burn) return measureBurn(subject, load);
    return kill ? measureKill(subject, load) : measureLoad(subject, load);
  };
  const measured = startMeasuring();
  const asked = process.argv
    .slice(2)
    .join(" ")
    .replace(/ ?--(?:json|save \S+)/g, "");
  const report = { name: "load", asked, machine: machine(), ours: {}, peers: {} };
  report.ours = await withOurService(serving, progress, (subject) => told(subject, measure, progress));
  for (const start of PEERS[peer] ?? []) {
    await withSubject(
      () => start(load),
      async (subject) => {
        report.peers[subject.name] = await told(subject, (each) => measureLoad(each, load), progress);
      },
    );
  }
  report.measured = measured();
  if (values.save !== undefined) saveLoad(values.save, report);
  if (values.json) process.stdout.write(`${JSON.stringify(report)}\n`);
}

/** Measures, and tells it in words and numbers. */
async function told(subject, measure, progress) {
  const result = await measure(subject);
  if (result.throughput) progress(`${subject.name}: ${sentenceOf(result)}`);
  const { samples, runs, steps, overload, after, capped, ...rest } = result;
  progress(JSON.stringify(rest, undefined, 2).replaceAll('"', ""));
  return { ...rest, ...(steps && { steps, overload, after, capped }), ...(samples && { samples }) };
}

main().catch((error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 2;
});
