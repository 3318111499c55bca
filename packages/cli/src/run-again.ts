import { CLIENT_SETTINGS } from "@throughline/langgraph-server/settings";
import { z } from "zod";
import { type Command, defineCommand } from "./command.js";
import { SHARED_OPTION, sharedFlag } from "./follow-thread.js";
import { serverClient } from "./server-client.js";
import { shellWord } from "./shell-word.js";

const answerSchema = z.object({ runId: z.string() });

export interface RunAgain {
  readonly name: string;
  readonly summary: string;
  readonly help: readonly string[];
  /** The last part of the route. */
  readonly route: string;
  /** What is printed, before the command that shows the thread. */
  readonly done: string;
  /** The command that shows it. */
  readonly show: (agent: string, thread: string) => string;
}

/** A command that makes a thread run again and brings nothing new. */
export function runAgainCommand({ name, summary, help, route, done, show }: RunAgain): Command {
  return defineCommand({
    name,
    summary,
    usage: "AGENT THREAD",
    help: help.join("\n"),
    settings: CLIENT_SETTINGS,
    words: { min: 2, max: 2 },
    options: { ...SHARED_OPTION, json: { type: "boolean", doc: "the server's answer as JSON" } },
    async run(input) {
      const { terminal, values, positionals } = input;
      const [agent = "", thread = ""] = positionals;
      const client = serverClient(input);
      const query = values.shared ? "?visibility=account" : "";
      const path = `/agents/${encodeURIComponent(agent)}/threads/${encodeURIComponent(thread)}/${route}${query}`;
      const answer = answerSchema.parse(await client.request("POST", path, {}));
      const next = `${show(shellWord(agent), shellWord(thread))}${sharedFlag(values.shared)}${client.sameFlags}`;
      terminal.print(values.json ? `${JSON.stringify(answer)}\n` : `${done} ${next}\n`);
      return 0;
    },
  });
}
