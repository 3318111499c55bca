import { CLIENT_SETTINGS } from "@throughline/langgraph-server/settings";
import { z } from "zod";
import { agentThread, SHARED_OPTION } from "../client/agent-thread.js";
import { serverClient } from "../client/server-client.js";
import { defineCommand } from "../command.js";

const answerSchema = z.object({ stopped: z.boolean(), outcome: z.string(), runId: z.string().optional() });

export const stopCommand = defineCommand({
  name: "stop",
  summary: "Stops the run that is open in a thread",
  usage: "AGENT THREAD",
  help: "Whoever watches the thread sees that it was stopped.\n\n  throughline stop poet rivers",
  settings: CLIENT_SETTINGS,
  words: { min: 2, max: 2 },
  options: { ...SHARED_OPTION, json: { type: "boolean", doc: "the server's answer as JSON" } },
  async run(input) {
    const { terminal, values, positionals } = input;
    const [agent = "", thread = ""] = positionals;
    const talk = agentThread(serverClient(input), agent, thread, values.shared);
    const answer = answerSchema.parse(await talk.stop());
    if (values.json) terminal.print(`${JSON.stringify(answer)}\n`);
    else terminal.print(answer.stopped ? "Stopped.\n" : "No run is open in this thread.\n");
    return 0;
  },
});
