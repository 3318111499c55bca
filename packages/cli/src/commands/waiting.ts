import { systemClock } from "@throughline/ai-core";
import { CLIENT_SETTINGS } from "@throughline/langgraph-server/settings";
import { readInterruptRequest } from "@throughline/questions";
import { z } from "zod";
import { defineCommand } from "../command.js";
import { serverClient } from "../server/api-client.js";
import { nearTime, table } from "../terminal/terminal.js";
import { oneLine } from "../transcript/text.js";

const pageSchema = z.object({
  questions: z.array(
    z.looseObject({
      agentId: z.string(),
      threadName: z.string(),
      visibility: z.string(),
      askedAt: z.string(),
      interrupt: z
        .looseObject({ value: z.json(), response_schema: z.record(z.string(), z.json()).optional() })
        .nullable(),
    }),
  ),
  next: z.string().nullable(),
});
type Waiting = z.output<typeof pageSchema>["questions"][number];

const MAX_QUESTION = 80;

export const waitingCommand = defineCommand({
  name: "waiting",
  summary: "Lists what waits for your answer, newest first",
  usage: "[AGENT]",
  help: [
    "Open questions of all agents, or of one: in your own threads, and in those the account shares.",
    "",
    "  throughline waiting",
    "  throughline run travel --thread trip    # answers one",
  ].join("\n"),
  settings: CLIENT_SETTINGS,
  words: { min: 0, max: 1 },
  options: { json: { type: "boolean", doc: "as a JSON array, with the whole questions" } },
  async run(input) {
    const { terminal, values, positionals } = input;
    const client = serverClient(input);
    const [agent] = positionals;
    const found: Waiting[] = [];
    let after: string | null = null;
    do {
      const query = new URLSearchParams({
        ...(agent !== undefined && { agentId: agent }),
        ...(after !== null && { after }),
      });
      const page: z.output<typeof pageSchema> = pageSchema.parse(
        await client.request("GET", `/waiting?${query}`),
      );
      found.push(...page.questions);
      after = page.next;
    } while (after !== null);
    if (values.json) terminal.print(`${JSON.stringify(found)}\n`);
    else if (found.length === 0) terminal.note("Nothing waits for you.");
    else {
      const now = systemClock.now();
      const rows = found.map(({ agentId, threadName, visibility, askedAt, interrupt }) => [
        agentId.replace(/^langgraph:/, ""),
        threadName,
        visibility,
        nearTime(askedAt, now),
        oneLine(questionOf(interrupt), MAX_QUESTION),
      ]);
      terminal.print(table([["AGENT", "THREAD", "WHOSE", "ASKED", "QUESTION"], ...rows]));
    }
    return 0;
  },
});

function questionOf(interrupt: Waiting["interrupt"]): string {
  return interrupt
    ? readInterruptRequest(interrupt.value, interrupt.response_schema).message
    : "Paused before a node.";
}
