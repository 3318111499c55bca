import { runCli } from "../run-cli.js";
import { recordedTerminal } from "./recorded-terminal.js";

export interface CliOutcome {
  readonly code: number;
  readonly printed: string;
  readonly said: string;
}

/** The command line as a program that pipes calls it. */
export async function runThroughline(
  argv: readonly string[],
  given: { readonly lines?: readonly string[]; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<CliOutcome> {
  const terminal = recordedTerminal(given);
  const code = await runCli(argv, { terminal, version: "1.2.3" });
  return { code, printed: terminal.printed(), said: terminal.said().join("\n") };
}
