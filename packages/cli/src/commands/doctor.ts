import type { Finding } from "@throughline/langgraph-server/admin";
import { SETTINGS } from "@throughline/langgraph-server/settings";
import { type CommandInput, defineCommand } from "../command.js";
import { startedWith } from "../effective-settings.js";
import { serverClient } from "../server-client.js";
import type { Span, Tone } from "../transcript/span.js";

const MARKS: Readonly<Record<Finding["status"], readonly [Tone, string]>> = {
  ok: ["plain", "ok  "],
  warn: ["mark", "warn"],
  fail: ["bad", "fail"],
};

export const doctorCommand = defineCommand({
  name: "doctor",
  summary: "Checks what the server needs, and says what to type where something is wrong",
  usage: "",
  help: [
    "Node, settings, database, stored rows, Redis, LiteLLM, graphs, port and disk, with the settings that `serve` would use. It",
    "starts no server; an embedded PostgreSQL is started for the check, unless one runs, and stopped again. Ends with 1 if",
    "something must be mended. With --url, a server that runs is checked instead: that it answers, that it is ready, and that it",
    "knows who asks.",
    "",
    "  throughline doctor",
    "  throughline doctor --url https://agents.example",
    "  throughline doctor --json",
  ].join("\n"),
  settings: SETTINGS,
  words: { min: 0, max: 0 },
  options: { json: { type: "boolean", doc: "the findings as a JSON array" } },
  async run(input) {
    const { terminal, values } = input;
    const findings: Finding[] = [];
    for await (const finding of findingsOf(input)) {
      findings.push(finding);
      if (!values.json) terminal.show(lineOf(finding));
    }
    if (values.json) terminal.print(`${JSON.stringify(findings)}\n`);
    return findings.some(({ status }) => status === "fail") ? 1 : 0;
  },
});

async function* findingsOf(input: CommandInput): AsyncGenerator<Finding> {
  if (input.flags.url !== undefined) return yield* examineServer(input);
  const { examine } = await import("@throughline/langgraph-server/admin");
  yield* examine(startedWith(input));
}

/** In the order in which one makes the next possible. */
const SERVER_CHECKS = [
  { subject: "server", path: "/health", found: "answers" },
  { subject: "ready", path: "/ready", found: "reaches its stores and takes runs" },
  { subject: "sign-in", path: "/agents", found: "knows who asks, and lists its agents" },
] as const;

/** Checks a running server over HTTP, up to the first check that fails. */
async function* examineServer(input: CommandInput): AsyncGenerator<Finding> {
  const server = serverClient(input);
  for (const { subject, path, found } of SERVER_CHECKS) {
    try {
      await server.request("GET", path);
      yield { status: "ok", subject, said: `${server.url} ${found}` };
    } catch (error) {
      const said = error instanceof Error ? error.message : String(error);
      yield {
        status: "fail",
        subject,
        said,
        fix: `See what ${server.url}${path} says, and the server's log.`,
      };
      return;
    }
  }
}

function lineOf({ status, subject, said, fix }: Finding): readonly Span[] {
  const [tone, mark] = MARKS[status];
  const advice: readonly Span[] =
    fix === undefined ? [] : [{ tone: "dim", text: `\n                   ${fix}` }];
  return [
    { tone, text: mark },
    { tone: "plain", text: `  ${subject.padEnd(11)}  ${said}` },
    ...advice,
    { tone: "plain", text: "\n" },
  ];
}
