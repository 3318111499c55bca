import { CLIENT_SETTINGS } from "@throughline/langgraph-server/settings";
import { z } from "zod";
import { defineCommand } from "../command.js";
import { serverClient } from "../server-client.js";
import { shellWord } from "../shell-word.js";

const answerSchema = z.object({ runId: z.string() });

export const askAgainCommand = defineCommand({
  name: "ask-again",
  summary: "Asks again what an answer made fail",
  usage: "AGENT THREAD",
  help: [
    "For a thread whose run failed because of an answer: the answer is taken back, and the question is asked anew. A graph",
    "that paused at a breakpoint goes on.",
    "",
    "  throughline ask-again approver refunds",
  ].join("\n"),
  settings: CLIENT_SETTINGS,
  words: { min: 2, max: 2 },
  options: { json: { type: "boolean", doc: "the server's answer as JSON" } },
  async run(input) {
    const { terminal, values, positionals } = input;
    const [agent = "", thread = ""] = positionals;
    const client = serverClient(input);
    const path = `/agents/${encodeURIComponent(agent)}/threads/${encodeURIComponent(thread)}/ask-again`;
    const answer = answerSchema.parse(await client.request("POST", path, {}));
    if (values.json) terminal.print(`${JSON.stringify(answer)}\n`);
    else {
      const run = `throughline run ${shellWord(agent)} --thread ${shellWord(thread)}${client.sameFlags}`;
      terminal.print(`The agent goes on. See what it asks, and answer, with: ${run}\n`);
    }
    return 0;
  },
});
