import type { Command } from "../command.js";
import { defineCommand } from "../command.js";
import { type CompletedCommand, renderCompletion, SHELLS } from "../completion.js";
import { UsageError } from "../usage-error.js";

/** Completes all commands, so it is made last and told of them. */
export function completionCommand(others: readonly Command[]): Command {
  const command: Command = defineCommand({
    name: "completion",
    summary: "Prints a script that completes commands and flags in your shell",
    usage: SHELLS.join(" | "),
    help: [
      "  bash: source <(throughline completion bash)",
      "  zsh:  source <(throughline completion zsh)",
      "  fish: throughline completion fish | source",
      "",
      "Put the line into your shell's startup file to keep it.",
    ].join("\n"),
    settings: {},
    words: { min: 1, max: 1 },
    actions: SHELLS,
    options: {},
    async run({ terminal, positionals: [typed] }) {
      const shell = SHELLS.find((each) => each === typed);
      if (!shell)
        throw new UsageError(`There is no completion for "${typed}". There is: ${SHELLS.join(", ")}.`);
      terminal.print(renderCompletion(shell, [...others, command].map(completed)));
      return 0;
    },
  });
  return command;
}

function completed({ name, summary, options, settings, actions = [] }: Command): CompletedCommand {
  const flags = [
    ...Object.keys(options),
    ...Object.values(settings).flatMap(({ flag }) => flag ?? []),
    "help",
  ];
  return { name, summary, actions, flags: flags.map((flag) => `--${flag}`) };
}
