import { CLIENT_SETTINGS } from "@throughline/langgraph-server/settings";
import {
  shownStatementSchema,
  shownUnbilledRunSchema,
  shownUnitSchema,
  shownUsageRowSchema,
} from "@throughline/langgraph-server/wire";
import { z } from "zod";
import { type CommandInput, defineCommand, parseAction, UsageError } from "../command.js";
import { type ServerClient, serverClient } from "../server/api-client.js";
import { BILLING_FLAGS, withBilling } from "../server/local-admin.js";
import {
  reconcileText,
  showFact,
  statementText,
  unbilledText,
  unclaimedText,
  unresolvedText,
  usageText,
} from "./usage-text.js";

const ACTIONS = ["list", "unresolved", "unbilled", "reconcile", "unclaimed"] as const;
type Action = (typeof ACTIONS)[number];

const usagePageSchema = z.object({ rows: z.array(shownUsageRowSchema), next: z.string().nullable() });
const unitPageSchema = z.object({ units: z.array(shownUnitSchema), next: z.string().nullable() });

const runPageSchema = z.object({ runs: z.array(shownUnbilledRunSchema), next: z.string().nullable() });

const options = {
  by: { type: "string", placeholder: "GROUP", doc: "day (default), agent, model, person or run" },
  from: {
    type: "string",
    placeholder: "DAY",
    doc: "from this UTC day on (default: the first of this month)",
  },
  to: {
    type: "string",
    placeholder: "DAY",
    doc: "up to the beginning of this UTC day (default: all of this month)",
  },
  month: { type: "string", placeholder: "MONTH", doc: "the statement of a month, as 2026-11, instead" },
  person: { type: "string", placeholder: "NAME", doc: "of one person; another's takes an admin" },
  limit: { type: "string", placeholder: "N", doc: "of unclaimed: at most so many rows (default: 50)" },
  csv: { type: "boolean", doc: "as a spreadsheet" },
  json: { type: "boolean", doc: "as JSON" },
} as const;

type Input = CommandInput<typeof options>;

export const usageCommand = defineCommand({
  name: "usage",
  summary: "Shows what model calls cost, and looks up what is not known yet",
  usage: "[list | unresolved | unbilled | reconcile | unclaimed]",
  help: [
    "`list`, `unresolved` and `unbilled` ask the server: an admin sees the account's usage, a person their own. `unresolved` lists",
    "calls without a price, `unbilled` runs on a LangGraph server whose calls LiteLLM's log has not shown. `reconcile` and `unclaimed` are for operators and open the database themselves, with the settings that `serve` would",
    "use: one reads LiteLLM's log once and prices what it tells, the other lists rows of it that no call of ours claims. Every",
    "instance reconciles at intervals, so this is for not waiting. It may run beside any number of instances.",
    "",
    "  throughline usage",
    "  throughline usage --by person --from 2026-11-01 --to 2026-11-08",
    "  throughline usage --month 2026-10 --csv > october.csv",
    "  throughline usage reconcile",
  ].join("\n"),
  settings: { ...CLIENT_SETTINGS, ...BILLING_FLAGS },
  words: { min: 0, max: 1 },
  actions: ACTIONS,
  options,
  async run(input) {
    const [typed = "list"] = input.positionals;
    await act[parseAction("usage", typed, ACTIONS)](input);
    return 0;
  },
});

const act: Readonly<Record<Action, (input: Input) => Promise<void>>> = {
  async list(input) {
    const { values } = input;
    const { by = "day", from, to, month, person } = values;
    if (values.csv && values.json) throw new UsageError("Choose --csv or --json.");
    const client = serverClient(input);
    if (month !== undefined) return statement(input, client, month);
    const query = {
      by,
      ...(from !== undefined && { from }),
      ...(to !== undefined && { to }),
      ...(person !== undefined && { subject: person }),
    };
    if (values.csv) {
      const search = new URLSearchParams({ ...query, format: "csv" });
      return input.terminal.print(await client.text(`/usage?${search}`));
    }
    const rows = await everyPage(client, "/usage", query, (answer) => {
      const page = usagePageSchema.parse(answer);
      return { items: page.rows, next: page.next };
    });
    if (values.json) return printJson(input, rows);
    if (rows.length === 0) return input.terminal.note("No model was called in this time.");
    input.terminal.print(usageText(by, rows));
  },

  async unresolved(input) {
    const { person } = input.values;
    const query = person === undefined ? {} : { subject: person };
    const units = await everyPage(serverClient(input), "/usage/unresolved", query, (answer) => {
      const page = unitPageSchema.parse(answer);
      return { items: page.units, next: page.next };
    });
    if (input.values.json) return printJson(input, units);
    if (units.length === 0) return input.terminal.note("Every call has its price.");
    input.terminal.print(unresolvedText(units));
  },

  async unbilled(input) {
    const { person } = input.values;
    const query = person === undefined ? {} : { subject: person };
    const runs = await everyPage(serverClient(input), "/usage/unbilled", query, (answer) => {
      const page = runPageSchema.parse(answer);
      return { items: page.runs, next: page.next };
    });
    if (input.values.json) return printJson(input, runs);
    if (runs.length === 0) return input.terminal.note("LiteLLM's log has shown every call.");
    input.terminal.print(unbilledText(runs));
  },

  async reconcile(input) {
    const reports = await withBilling(input, ({ billing }) => billing.reconcile());
    if (input.values.json) return printJson(input, reports);
    if (reports.length === 0)
      return input.terminal.note(
        "No LiteLLM is configured, so there is nothing to reconcile. Set LITELLM_BASE_URL.",
      );
    input.terminal.print(reconcileText(reports));
  },

  async unclaimed(input) {
    const limit = Number(input.values.limit ?? 50);
    if (!Number.isInteger(limit) || limit < 1)
      throw new UsageError("--limit takes a whole number from 1 on.");
    const facts = await withBilling(input, ({ billing }) => billing.facts.unclaimed(limit));
    if (input.values.json) return printJson(input, facts.map(showFact));
    if (facts.length === 0) return input.terminal.note("Every row of LiteLLM's log is of a call of ours.");
    input.terminal.print(unclaimedText(facts));
  },
};

async function statement({ terminal, values }: Input, client: ServerClient, month: string): Promise<void> {
  const { person, csv, json } = values;
  const query = { month, ...(person !== undefined && { subject: person }) };
  if (csv) {
    const search = new URLSearchParams({ ...query, format: "csv" });
    return terminal.print(await client.text(`/usage/statement?${search}`));
  }
  const answer = await client.request("GET", `/usage/statement?${new URLSearchParams(query)}`);
  const read = shownStatementSchema.parse(answer);
  terminal.print(json ? `${JSON.stringify(read)}\n` : statementText(read));
}

async function everyPage<Item>(
  client: ServerClient,
  path: string,
  query: Readonly<Record<string, string>>,
  read: (answer: unknown) => { readonly items: readonly Item[]; readonly next: string | null },
): Promise<readonly Item[]> {
  const all: Item[] = [];
  let after: string | null = null;
  do {
    const search = new URLSearchParams({ ...query, limit: "100", ...(after !== null && { after }) });
    const page = read(await client.request("GET", `${path}?${search}`));
    all.push(...page.items);
    after = page.next;
  } while (after !== null);
  return all;
}

function printJson({ terminal }: Input, value: unknown): void {
  terminal.print(`${JSON.stringify(value)}\n`);
}
