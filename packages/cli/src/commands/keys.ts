import { text } from "node:stream/consumers";
import { accountIdSchema } from "@throughline/ai-core";
import { importKey, resealKeys } from "@throughline/billing";
import type { OpenedBilling } from "@throughline/langgraph-server/admin";
import { BILLING_SETTINGS } from "@throughline/langgraph-server/settings";
import { type CommandInput, defineCommand, parseAction, readingSettings, UsageError } from "../command.js";
import { BILLING_FLAGS, withBilling } from "../server/local-admin.js";
import type { Terminal } from "../terminal/terminal.js";

const ACTIONS = ["import", "reseal"] as const;
type Action = (typeof ACTIONS)[number];

const options = {
  account: { type: "string", placeholder: "NAME", doc: "of import: whose calls are made with it" },
  json: { type: "boolean", doc: "what was done as JSON" },
} as const;

type Input = CommandInput<typeof options>;

export const keysCommand = defineCommand({
  name: "keys",
  summary: "Keeps the accounts' LiteLLM keys, sealed, in the database: import, reseal",
  usage: "import ID --account NAME | reseal",
  help: [
    "`import` reads a LiteLLM token from standard input, never from the command line, which others can read, and stores it sealed as",
    "the account's key of that id. `reseal` seals every stored key with the first of the configured secrets; afterwards the others",
    "can go. Both open the database themselves, with the settings that `serve` would use.",
    "",
    "  throughline keys import key-1 --account acme < token.txt",
    "  throughline keys reseal",
  ].join("\n"),
  settings: BILLING_FLAGS,
  words: { min: 1, max: Number.POSITIVE_INFINITY },
  actions: ACTIONS,
  options,
  async run(input) {
    const [typed = "", ...words] = input.positionals;
    await act[parseAction("keys", typed, ACTIONS)](input, words);
    return 0;
  },
});

const act: Readonly<Record<Action, (input: Input, words: readonly string[]) => Promise<void>>> = {
  async import(input, [virtualKeyId, ...more]) {
    const { terminal, values } = input;
    // Not repeated: it may be the token.
    if (more.length > 0)
      throw new UsageError("A token comes from standard input. One that was typed here should be replaced.");
    if (virtualKeyId === undefined || values.account === undefined)
      throw new UsageError("Something is missing: throughline keys import ID --account NAME");
    const account = accountIdSchema.safeParse(values.account).data;
    if (account === undefined) throw new UsageError("--account is not the name of an account.");
    if (!/^[\x21-\x7e]{1,256}$/.test(virtualKeyId))
      throw new UsageError("A key's id is 1 to 256 printable characters without spaces.");
    const token = await readToken(terminal);
    await withBilling(input, async ({ keys }) => {
      const { store, ring } = requireKeys(keys);
      await importKey(store, ring, { account, virtualKeyId, token });
    });
    const stored = { account, virtualKeyId };
    terminal.print(
      values.json
        ? `${JSON.stringify(stored)}\n`
        : `Stored: calls of ${account} that name ${virtualKeyId} use it.\n`,
    );
  },

  async reseal(input) {
    const { terminal, values } = input;
    const resealed = await withBilling(input, ({ keys }) => {
      const { store, ring } = requireKeys(keys);
      return resealKeys(store, ring);
    });
    terminal.print(values.json ? `${JSON.stringify({ resealed })}\n` : `Resealed ${resealed}.\n`);
  },
};

function requireKeys(read: OpenedBilling["keys"]): NonNullable<ReturnType<OpenedBilling["keys"]>> {
  const keys = readingSettings(read);
  if (keys) return keys;
  throw new UsageError(
    `No secret to seal keys with is configured. Set ${BILLING_SETTINGS.keySecrets.env}; openssl rand -base64 32 makes one.`,
  );
}

/** The token is never repeated, not even where it can't be used. */
async function readToken({ input, isInteractive, note }: Terminal): Promise<string> {
  if (isInteractive) note("Paste the token, then press Enter and Ctrl-D.");
  const token = (await text(input)).trim();
  if (token === "") throw new UsageError("Standard input is empty: pipe the token in, as with < token.txt");
  if (!/^[\x21-\x7e]{1,4096}$/.test(token))
    throw new UsageError("Standard input is no token: one line of printable characters without spaces.");
  return token;
}
