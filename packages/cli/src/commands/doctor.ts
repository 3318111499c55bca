import type { Finding } from "@throughline/langgraph-server/admin";
import { SETTINGS } from "@throughline/langgraph-server/settings";
import { defineCommand } from "../command.js";
import { startedWith } from "../effective-settings.js";
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
    "something must be mended.",
    "",
    "  throughline doctor",
    "  throughline doctor --json",
  ].join("\n"),
  settings: SETTINGS,
  words: { min: 0, max: 0 },
  options: { json: { type: "boolean", doc: "the findings as a JSON array" } },
  async run(input) {
    const { terminal, values } = input;
    const { examine } = await import("@throughline/langgraph-server/admin");
    const findings: Finding[] = [];
    for await (const finding of examine(startedWith(input))) {
      findings.push(finding);
      if (!values.json) terminal.show(lineOf(finding));
    }
    if (values.json) terminal.print(`${JSON.stringify(findings)}\n`);
    return findings.some(({ status }) => status === "fail") ? 1 : 0;
  },
});

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
