import type { Command } from "./command.js";

export function generalHelp(commands: readonly Command[]): string {
  const width = Math.max(...commands.map(({ name }) => name.length)) + 3;
  return [
    "Throughline: run LangGraph agents, watch them live, answer them, stop them.",
    "",
    "  throughline COMMAND …",
    "",
    ...commands.map(({ name, summary }) => `  ${name.padEnd(width)}${summary}`),
    "",
    "  throughline COMMAND --help says more. --version prints the version.",
    "",
    "Exit codes: 0 done, 1 failed, 2 called the wrong way, 130 left with Ctrl-C. NO_COLOR turns colours off.",
    "",
  ].join("\n");
}

export function commandHelp({ name, usage, summary, help, options, settings }: Command): string {
  const rows: (readonly [string, string])[] = Object.entries(options).map(
    ([option, { type, doc, placeholder }]) => [
      type === "boolean" ? `--${option}` : `--${option} ${placeholder ?? "VALUE"}`,
      doc,
    ],
  );
  const secrets: string[] = [];
  for (const { flag, placeholder, env, doc, unset } of Object.values(settings)) {
    if (flag === undefined) secrets.push(env);
    else rows.push([`--${flag} ${placeholder}`, `${plain(doc)} ${env}; when not set: ${plain(unset)}`]);
  }
  rows.push(["--help", "this text"]);
  const width = Math.max(...rows.map(([left]) => left.length)) + 3;
  return [
    `${summary}.`,
    "",
    `  throughline ${name} ${usage}`.trimEnd(),
    "",
    help,
    "",
    "Options",
    ...rows.map(([left, right]) => `  ${left.padEnd(width)}${right}`),
    ...(secrets.length > 0 ? ["", `Only in the environment, being secrets: ${secrets.join(", ")}.`] : []),
    "",
  ].join("\n");
}

function plain(text: string): string {
  return text.replaceAll("`", "");
}
