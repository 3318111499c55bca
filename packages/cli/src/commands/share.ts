import { CLIENT_SETTINGS } from "@throughline/langgraph-server/settings";
import { z } from "zod";
import { defineCommand } from "../command.js";
import { serverClient } from "../server-client.js";

const answerSchema = z.looseObject({ visibility: z.enum(["private", "account"]) });

export const shareCommand = defineCommand({
  name: "share",
  summary: "Shares a thread with all people of the account, or makes it private",
  usage: "AGENT THREAD",
  help: [
    "The thread goes along with its conversation and files; its earlier runs, its log and old checkpoints do not. From then on",
    "`run`, `watch` and `stop` find it with --shared. Making a shared thread private takes an admin.",
    "",
    "  throughline share poet rivers",
    "  throughline share poet rivers --private",
  ].join("\n"),
  settings: CLIENT_SETTINGS,
  words: { min: 2, max: 2 },
  options: {
    private: { type: "boolean", doc: "makes the account's thread of that name private" },
    json: { type: "boolean", doc: "the thread as JSON" },
  },
  async run(input) {
    const { terminal, values, positionals } = input;
    const [agent = "", thread = ""] = positionals.map(encodeURIComponent);
    const [from, to] = values.private ? ["account", "private"] : ["private", "account"];
    const path = `/agents/${agent}/threads/${thread}/visibility?visibility=${from}`;
    const answer = answerSchema.parse(await serverClient(input).request("PUT", path, { visibility: to }));
    if (values.json) terminal.print(`${JSON.stringify(answer)}\n`);
    else terminal.print(answer.visibility === "account" ? "Shared with the account.\n" : "Private.\n");
    return 0;
  },
});
