import { CLIENT_SETTINGS } from "@throughline/langgraph-server/settings";
import { shownBudgetSchema, shownBudgetStateSchema } from "@throughline/langgraph-server/wire";
import { z } from "zod";
import { type CommandInput, defineCommand, parseAction, UsageError } from "../command.js";
import { type ServerClient, serverClient } from "../server/api-client.js";
import { table } from "../terminal/terminal.js";

const ACTIONS = ["list", "me", "set", "remove"] as const;
type Action = (typeof ACTIONS)[number];

const budgetsSchema = z.object({ budgets: z.array(shownBudgetSchema) });
const statesSchema = z.object({ budgets: z.array(shownBudgetStateSchema) });

const options = {
  day: { type: "string", placeholder: "USD", doc: "of set: the most per UTC day (default: no limit)" },
  month: { type: "string", placeholder: "USD", doc: "of set: the most per UTC month (default: no limit)" },
  soft: { type: "string", placeholder: "PERCENT", doc: "of set: warn from this share on (default: never)" },
  person: {
    type: "string",
    placeholder: "NAME",
    doc: "of set and remove: this person's instead of the account's",
  },
  json: { type: "boolean", doc: "the server's answer as JSON" },
} as const;

type Input = CommandInput<typeof options>;

export const budgetsCommand = defineCommand({
  name: "budgets",
  summary: "Limits what may be spent: list, me, set, remove",
  usage: "[list | me | set | remove]",
  help: [
    "Of the account as a whole and of each person in it, per day and month in UTC. Over a limit, model calls are refused until the",
    "next day or month. `me` says how much is spent. `set` replaces the whole budget: what is not named has no limit.",
    "",
    "  throughline budgets set --day 5 --month 100 --soft 80",
    "  throughline budgets set --person ann --month 20",
    "  throughline budgets",
  ].join("\n"),
  settings: CLIENT_SETTINGS,
  words: { min: 0, max: 1 },
  actions: ACTIONS,
  options,
  async run(input) {
    const [typed = "list"] = input.positionals;
    await act[parseAction("budgets", typed, ACTIONS)](input, serverClient(input));
    return 0;
  },
});

const act: Readonly<Record<Action, (input: Input, client: ServerClient) => Promise<void>>> = {
  async list({ terminal, values }, client) {
    const { budgets } = budgetsSchema.parse(await client.request("GET", "/budgets"));
    if (values.json) return terminal.print(`${JSON.stringify(budgets)}\n`);
    if (budgets.length === 0)
      return terminal.note("No budgets. Set one with: throughline budgets set --month USD");
    terminal.print(table([["WHOSE", "DAY", "MONTH", "WARNS AT"], ...budgets.map(rowOf)]));
  },

  async me({ terminal, values }, client) {
    const { budgets } = statesSchema.parse(await client.request("GET", "/budgets/me"));
    if (values.json) return terminal.print(`${JSON.stringify(budgets)}\n`);
    if (budgets.length === 0) return terminal.note("No budget limits you.");
    const rows = budgets.map(({ of, period, spent, limit, share, standing, renewedAt }) => [
      of,
      period,
      `${spent} of ${limit} USD`,
      `${Math.floor(share * 100)} %`,
      standing,
      renewedAt,
    ]);
    terminal.print(table([["WHOSE", "PERIOD", "SPENT", "SHARE", "STANDING", "RENEWED"], ...rows]));
  },

  async set({ terminal, values }, client) {
    const { day, month, soft } = values;
    if (day === undefined && month === undefined)
      throw new UsageError("Say how much: throughline budgets set --day USD, --month USD or both.");
    if (soft !== undefined && !/^\d{1,3}$/.test(soft))
      throw new UsageError("--soft takes a whole number of percent.");
    const body = {
      day: day ?? null,
      month: month ?? null,
      softPercent: soft === undefined ? null : Number(soft),
    };
    const budget = shownBudgetSchema.parse(await client.request("PUT", pathOf(values), body));
    if (values.json) return terminal.print(`${JSON.stringify(budget)}\n`);
    terminal.print(table([["WHOSE", "DAY", "MONTH", "WARNS AT"], rowOf(budget)]));
  },

  async remove({ terminal, values }, client) {
    await client.request("DELETE", pathOf(values));
    terminal.print(values.json ? `${JSON.stringify({ removed: true })}\n` : "Removed.\n");
  },
};

function pathOf({ person }: Input["values"]): string {
  return person === undefined ? "/budgets" : `/budgets/${encodeURIComponent(person)}`;
}

function rowOf({ subject, day, month, softPercent }: z.output<typeof shownBudgetSchema>): string[] {
  const usd = (limit: string | null) => (limit === null ? "-" : `${limit} USD`);
  return [subject ?? "account", usd(day), usd(month), softPercent === null ? "-" : `${softPercent} %`];
}
