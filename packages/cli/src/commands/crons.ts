import { systemClock } from "@throughline/ai-core";
import { CLIENT_SETTINGS } from "@throughline/langgraph-server/settings";
import { shownCronSchema, shownTickSchema } from "@throughline/langgraph-server/wire";
import { z } from "zod";
import { type CommandInput, defineCommand, parseAction, UsageError } from "../command.js";
import { type ServerClient, serverClient } from "../server/api-client.js";
import { shellWord } from "../terminal/signals.js";
import { nearTime, table } from "../terminal/terminal.js";

const ACTIONS = ["list", "add", "pause", "resume", "run", "ticks", "remove"] as const;
type Action = (typeof ACTIONS)[number];

const cronsSchema = z.object({ crons: z.array(shownCronSchema), next: z.string().nullable() });
const ticksSchema = z.object({ ticks: z.array(shownTickSchema), next: z.string().nullable() });
const timesSchema = z.object({ times: z.array(z.string()) });

const options = {
  thread: {
    type: "string",
    placeholder: "NAME",
    doc: "of add: the thread of every tick (default: one of its own each)",
  },
  "time-zone": { type: "string", placeholder: "ZONE", doc: "of add: as Europe/Berlin (default: UTC)" },
  model: { type: "string", placeholder: "NAME", doc: "of add: the model's alias" },
  overlap: {
    type: "string",
    placeholder: "POLICY",
    doc: "of add: skip (default) or enqueue when the thread is busy",
  },
  missed: {
    type: "string",
    placeholder: "POLICY",
    doc: "of add: skip (default) or run_once for missed ticks",
  },
  json: { type: "boolean", doc: "the server's answer as JSON" },
} as const;

type Input = CommandInput<typeof options>;

export const cronsCommand = defineCommand({
  name: "crons",
  summary: "Runs agents on a schedule: list, add, pause, resume, run, ticks, remove",
  usage: "[list | add AGENT SCHEDULE [text] | pause ID | resume ID | run ID | ticks ID | remove ID]",
  help: [
    "A schedule is cron syntax, six fields when it begins with seconds, or `every 10 s`. Every tick is an ordinary run that",
    "anybody can watch.",
    "",
    '  throughline crons add sentinel "every 10 s" "look around" --thread night',
    '  throughline crons add poet "0 9 * * 1" "a line for Monday" --time-zone Europe/Berlin',
    "  throughline crons",
    "  throughline watch sentinel night",
  ].join("\n"),
  settings: CLIENT_SETTINGS,
  words: { min: 0, max: Number.POSITIVE_INFINITY },
  actions: ACTIONS,
  options,
  async run(input) {
    const [typed = "list", ...words] = input.positionals;
    const action = parseAction("crons", typed, ACTIONS);
    await act[action](input, serverClient(input), words);
    return 0;
  },
});

const act: Readonly<
  Record<Action, (input: Input, client: ServerClient, words: readonly string[]) => Promise<void>>
> = {
  async list(input, client) {
    const crons = await listAll(client);
    if (input.values.json) return printJson(input, crons);
    if (crons.length === 0)
      return input.terminal.note('No crons. Add one with: throughline crons add AGENT SCHEDULE "text"');
    const now = systemClock.now();
    const rows = crons.map((cron) => [
      cron.id,
      cron.agent.replace(/^langgraph:/, ""),
      cron.schedule,
      cron.timeZone,
      cron.enabled ? nearTime(cron.nextAt, now) : "paused",
      cron.lastTick
        ? `${cron.lastTick.runStatus ?? cron.lastTick.outcome.kind} ${nearTime(cron.lastTick.scheduledAt, now)}`
        : "-",
      cron.threadName ?? "-",
    ]);
    input.terminal.print(table([["ID", "AGENT", "SCHEDULE", "ZONE", "NEXT", "LAST", "THREAD"], ...rows]));
  },

  async add(input, client, [agent, schedule, ...words]) {
    if (agent === undefined || schedule === undefined) {
      throw new UsageError(
        'Something is missing: throughline crons add AGENT SCHEDULE [text], as in crons add poet "every 1 h" "a line".',
      );
    }
    const { thread, model, overlap, missed, "time-zone": timeZone } = input.values;
    const message = words.join(" ").trim();
    const answer = await client.request("POST", "/crons", {
      agent,
      schedule,
      ...(message !== "" && { input: { message } }),
      ...(thread !== undefined && { threadName: thread }),
      ...(model !== undefined && { model }),
      ...(overlap !== undefined && { overlap }),
      ...(missed !== undefined && { missed }),
      ...(timeZone !== undefined && { timeZone }),
    });
    const cron = shownCronSchema.parse(answer);
    if (input.values.json) return printJson(input, cron);
    const preview = await client.request("POST", "/crons/preview", {
      schedule,
      timeZone: cron.timeZone,
      count: 3,
    });
    input.terminal.print(`Added ${cron.id}.\n`);
    for (const time of timesSchema.parse(preview).times) input.terminal.print(`  ${time}\n`);
    if (cron.threadName !== null) {
      input.terminal.note(
        `Watch it: throughline watch ${shellWord(agent)} ${shellWord(cron.threadName)}${client.sameFlags}`,
      );
    }
  },

  pause: (input, client, words) => change(input, client, words, "pause", "Paused"),
  resume: (input, client, words) => change(input, client, words, "resume", "Resumed"),

  async run(input, client, words) {
    const tick = shownTickSchema.parse(await client.request("POST", `/crons/${idOf(words)}/run`, {}));
    if (input.values.json) return printJson(input, tick);
    const where = `${shellWord(tick.agent.replace(/^langgraph:/, ""))} ${shellWord(tick.threadName)}${client.sameFlags}`;
    input.terminal.print(`It ${tick.outcome.kind === "started" ? "runs" : `is ${tick.outcome.kind}`}.\n`);
    input.terminal.note(`Watch it: throughline watch ${where}`);
  },

  async ticks(input, client, words) {
    const { ticks } = ticksSchema.parse(await client.request("GET", `/crons/${idOf(words)}/ticks`));
    if (input.values.json) return printJson(input, ticks);
    const rows = ticks.map(({ scheduledAt, outcome, runStatus, threadName }) => [
      scheduledAt,
      outcome.kind,
      runStatus ?? ("message" in outcome ? outcome.message : "-"),
      threadName,
    ]);
    input.terminal.print(table([["SCHEDULED", "OUTCOME", "RUN", "THREAD"], ...rows]));
  },

  async remove(input, client, words) {
    await client.request("DELETE", `/crons/${idOf(words)}`);
    if (input.values.json) return printJson(input, { removed: true });
    input.terminal.print("Removed.\n");
  },
};

async function listAll(client: ServerClient): Promise<readonly z.output<typeof shownCronSchema>[]> {
  const all: z.output<typeof shownCronSchema>[] = [];
  let after: string | null = null;
  do {
    const query = new URLSearchParams({ limit: "100", ...(after !== null && { after }) });
    const page = cronsSchema.parse(await client.request("GET", `/crons?${query}`));
    all.push(...page.crons);
    after = page.next;
  } while (after !== null);
  return all;
}

async function change(
  input: Input,
  client: ServerClient,
  words: readonly string[],
  action: "pause" | "resume",
  done: string,
): Promise<void> {
  const cron = shownCronSchema.parse(await client.request("POST", `/crons/${idOf(words)}/${action}`, {}));
  if (input.values.json) return printJson(input, cron);
  const next = cron.nextAt === null ? "" : ` Next: ${cron.nextAt}.`;
  input.terminal.print(`${done}.${next}\n`);
}

function idOf([id]: readonly string[]): string {
  if (id === undefined) throw new UsageError("Name the cron by its id: `throughline crons` lists them.");
  return encodeURIComponent(id);
}

function printJson({ terminal }: Input, value: unknown): void {
  terminal.print(`${JSON.stringify(value)}\n`);
}
