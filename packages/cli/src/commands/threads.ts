import { systemClock } from "@throughline/ai-core";
import { CLIENT_SETTINGS } from "@throughline/langgraph-server/settings";
import { z } from "zod";
import { defineCommand } from "../command.js";
import { type ServerClient, serverClient } from "../server/api-client.js";
import { nearTime, table } from "../terminal/terminal.js";

const infoSchema = z.object({ agents: z.record(z.string(), z.unknown()) });
const pageSchema = z.object({
  threads: z.array(
    z.looseObject({
      threadName: z.string(),
      visibility: z.string().nullish(),
      title: z.string().nullish(),
      status: z.string(),
      lastActivityAt: z.string(),
    }),
  ),
  next: z.string().nullish(),
});

export const threadsCommand = defineCommand({
  name: "threads",
  summary: "Lists threads, newest activity first",
  usage: "[AGENT]",
  help: [
    "Of one agent, or of all: your own, and those the account shares (WHOSE is private or account).",
    "",
    "  throughline threads",
    "  throughline threads poet --status running --json",
    "  throughline share poet rivers             # shares one with the account",
  ].join("\n"),
  settings: CLIENT_SETTINGS,
  words: { min: 0, max: 1 },
  options: {
    status: { type: "string", placeholder: "STATUS", doc: "only idle, running, waiting or error" },
    search: { type: "string", placeholder: "TEXT", doc: "only with this in title or name" },
    visibility: { type: "string", placeholder: "WHOSE", doc: "private, account or all (default: all)" },
    archived: { type: "boolean", doc: "archived ones instead" },
    limit: { type: "string", placeholder: "N", doc: "at most so many of each agent (default: 50)" },
    json: { type: "boolean", doc: "as a JSON array" },
  },
  async run(input) {
    const { terminal, values, positionals } = input;
    const client = serverClient(input);
    const agents = positionals.length > 0 ? positionals : await listAgents(client);
    const query = new URLSearchParams({
      visibility: values.visibility ?? "all",
      archived: String(values.archived === true),
      limit: values.limit ?? "50",
      ...(values.status !== undefined && { status: values.status }),
      ...(values.search !== undefined && { search: values.search }),
    });
    const lists = await Promise.all(
      agents.map(async (agent) => {
        const page = await client.request("GET", `/agents/${encodeURIComponent(agent)}/threads?${query}`);
        return pageSchema.parse(page).threads.map((thread) => ({ ...thread, agent: shortName(agent) }));
      }),
    );
    const threads = lists.flat().sort((a, b) => Date.parse(b.lastActivityAt) - Date.parse(a.lastActivityAt));
    if (values.json) terminal.print(`${JSON.stringify(threads)}\n`);
    else if (threads.length === 0) terminal.note('No threads. Start one with: throughline run AGENT "text"');
    else {
      const now = systemClock.now();
      const rows = threads.map(({ agent, threadName, visibility, status, lastActivityAt, title }) => [
        agent,
        threadName,
        visibility ?? "",
        status,
        nearTime(lastActivityAt, now),
        title ?? "",
      ]);
      terminal.print(table([["AGENT", "THREAD", "WHOSE", "STATUS", "ACTIVE", "TITLE"], ...rows]));
    }
    return 0;
  },
});

async function listAgents(client: ServerClient): Promise<readonly string[]> {
  return Object.keys(infoSchema.parse(await client.request("GET", "/api/copilotkit/info")).agents);
}

function shortName(agent: string): string {
  return agent.replace(/^langgraph:/, "");
}

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
