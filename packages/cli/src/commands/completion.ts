import { type Command, defineCommand, UsageError } from "../command.js";

/** Creates the command that completes all commands. It is created last, from the other commands. */
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
const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

interface CompletedCommand {
  readonly name: string;
  readonly summary: string;
  /** The actions that its first word may name. */
  readonly actions: readonly string[];
  readonly flags: readonly string[];
}

/** A script for a shell. Names and flags are ours: letters, digits and dashes, so they need no quotes. */
export function renderCompletion(shell: Shell, commands: readonly CompletedCommand[]): string {
  switch (shell) {
    case "bash":
      return bash(commands);
    case "zsh":
      // zsh reads bash's completions once bashcompinit is loaded.
      return `autoload -U +X bashcompinit && bashcompinit\n${bash(commands)}`;
    case "fish":
      return fish(commands);
  }
}

function bash(commands: readonly CompletedCommand[]): string {
  const cases = commands.map(
    ({ name, actions, flags }) => `    ${name}) words="${[...actions, ...flags].join(" ")}" ;;`,
  );
  return [
    "_throughline() {",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the shell that fills these in.
    '  local current="${COMP_WORDS[COMP_CWORD]}" words',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as above.
    '  case "${COMP_WORDS[1]}" in',
    ...cases,
    '    *) words="" ;;',
    "  esac",
    `  [ "$COMP_CWORD" -eq 1 ] && words="${commands.map(({ name }) => name).join(" ")} --help --version"`,
    '  COMPREPLY=($(compgen -W "$words" -- "$current"))',
    "}",
    "complete -o default -F _throughline throughline",
    "",
  ].join("\n");
}

function fish(commands: readonly CompletedCommand[]): string {
  const first = commands.map(
    ({ name, summary }) =>
      `complete -c throughline -n __fish_use_subcommand -a ${name} -d '${summary.replaceAll("'", "\\'")}'`,
  );
  const rest = commands.flatMap(({ name, actions, flags }) => {
    const within = `complete -c throughline -n '__fish_seen_subcommand_from ${name}'`;
    return [
      ...actions.map((action) => `${within} -a ${action}`),
      ...flags.map((flag) => `${within} -l ${flag.replace(/^--/, "")}`),
    ];
  });
  return ["complete -c throughline -f", ...first, ...rest, ""].join("\n");
}
