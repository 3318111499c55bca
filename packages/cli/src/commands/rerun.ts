import { CLIENT_SETTINGS } from "@throughline/langgraph-server/settings";
import { z } from "zod";
import { type Command, defineCommand } from "../command.js";
import { serverClient } from "../server/api-client.js";
import { SHARED_OPTION, sharedFlag } from "../server/followed-thread.js";
import { shellWord } from "../terminal/signals.js";

const answerSchema = z.object({ runId: z.string() });

export interface RunAgain {
  readonly name: string;
  readonly summary: string;
  readonly help: readonly string[];
  /** The last part of the route. */
  readonly route: string;
  /** The text that is printed before the command that shows the thread. */
  readonly done: string;
  /** The command that shows it. */
  readonly show: (agent: string, thread: string) => string;
}

/** Defines a command that makes a thread run again without new input. */
function runAgainCommand({ name, summary, help, route, done, show }: RunAgain): Command {
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

export const askAgainCommand = runAgainCommand({
  name: "ask-again",
  summary: "Asks again what an answer made fail",
  help: [
    "For a thread whose run failed because of an answer: the answer is taken back, and the question is asked anew. A graph",
    "that paused at a breakpoint goes on.",
    "",
    "  throughline ask-again approver refunds",
  ],
  route: "ask-again",
  done: "The agent goes on. See what it asks, and answer, with:",
  show: (agent, thread) => `throughline run ${agent} --thread ${thread}`,
});

export const retryCommand = runAgainCommand({
  name: "retry",
  summary: "Tries again what failed",
  help: [
    "For a thread whose last run failed, was lost or was stopped, whatever the cause: it goes on from where it broke off, or,",
    "where nothing of it was stored, begins anew with what it was given.",
    "",
    "  throughline retry poet rivers",
  ],
  route: "retry",
  done: "It runs again. See it with:",
  show: (agent, thread) => `throughline watch ${agent} ${thread}`,
});
