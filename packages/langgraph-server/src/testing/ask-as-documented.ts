import { randomUUID } from "node:crypto";
import type { Json } from "@throughline/ai-core";
import fc from "fast-check";
import type { OpenApiDocument } from "../http/openapi-shape.js";
import { answerProblem } from "./answer-problem.js";
import {
  type DocumentedRequest,
  fittingRequest,
  type ListedOperation,
  misfittingRequest,
} from "./documented-request.js";

export interface Trial {
  readonly url: string;
  readonly document: OpenApiDocument;
  readonly listed: ListedOperation;
  readonly runs: number;
  readonly seed: number;
}

/**
 * Operations that no drawn request succeeds with: only graphs fill the store, a link is signed, an edit has to name what the graph
 * holds, and what did not fail is not tried again.
 */
export const NEVER_GOOD = [
  "deleteStoreItems",
  "getFilesByToken",
  "patchAgentsThreadsState",
  "postAgentsThreadsRetry",
] as const;

/**
 * Asks for an operation as the document says and as it does not, as a caller with an account of their own that holds
 * something of everything. Throws on an answer that is not documented; gives the statuses there were.
 */
export async function askAsDocumented({ url, document, listed, runs, seed }: Trial): Promise<Set<number>> {
  const account = `a-${randomUUID()}`;
  const words = await ownThings(url, account, listed);
  const source = { document, words };
  const seen = new Set<number>();

  async function ask(request: DocumentedRequest): Promise<number> {
    const { method, path, headers, body } = request;
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { "x-throughline-account": account, ...headers },
      ...(body !== undefined && { body }),
    });
    const problem = await answerProblem(document, listed, request, answer);
    if (problem !== undefined) throw new Error(`${JSON.stringify(request).slice(0, 2_000)}\n${problem}`);
    return answer.status;
  }

  await fc.assert(
    fc.asyncProperty(fittingRequest(source, listed), async (request) => {
      seen.add(await ask(request));
    }),
    { numRuns: runs, seed },
  );
  const misfits = misfittingRequest(source, listed);
  if (misfits) {
    await fc.assert(
      fc.asyncProperty(misfits, async (request) => {
        const status = await ask(request);
        if (status < 400) throw new Error(`${JSON.stringify(request).slice(0, 2_000)}\nwas accepted`);
      }),
      { numRuns: Math.ceil(runs / 2), seed },
    );
  }
  return seen;
}

const JSON_TYPE = { "content-type": "application/json" };

/** A receipt, or a thread, a cron and a file, so that names in requests can name something. */
async function ownThings(
  url: string,
  account: string,
  { path }: ListedOperation,
): Promise<Readonly<Record<string, readonly Json[]>>> {
  async function ask(method: string, where: string, headers: object = {}, body?: string): Promise<Answered> {
    const answer = await fetch(`${url}${where}`, {
      method,
      headers: { "x-throughline-account": account, ...headers },
      ...(body !== undefined && { body }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${where}: ${answer.status} ${text}`);
    // A parsed boundary: only ids are read, and the answers are what is tested here.
    return text.startsWith("{") ? (JSON.parse(text) as Answered) : {};
  }
  const isOfDeletions = path.includes("/deletions/");
  const receipt = isOfDeletions ? await ask("DELETE", "/account/data") : {};
  if (isOfDeletions) return { id: [String(receipt.id)] };
  const messages = [{ id: randomUUID(), role: "user", content: "A line about rivers" }];
  const run = JSON.stringify({ threadId: "mine", messages });
  await ask("POST", "/api/copilotkit/agent/poet/run", JSON_TYPE, run);
  const cron = await ask(
    "POST",
    "/crons",
    JSON_TYPE,
    JSON.stringify({ agent: "poet", schedule: "0 0 1 1 *", input: { message: "A line about rivers" } }),
  );
  const file = { "content-type": "text/plain" };
  const attachment = await ask("POST", "/agents/poet/threads/mine/attachments", file, "A text");
  const { checkpointId, messages: said } = await ask("GET", "/agents/poet/threads/mine/state");
  const messageId = said?.at(-1)?.id ?? "";
  const thumb = JSON.stringify({ messageId, value: "up" });
  await ask("PUT", "/agents/poet/threads/mine/feedback", JSON_TYPE, thumb);
  // A fork takes a name that is new.
  const threadNames = path.endsWith("/fork") ? ["fork 1", "fork 2"] : ["mine", "mine", "new"];
  return {
    "path threadName": ["mine"],
    agentId: ["poet", "poet", "langgraph:poet"],
    agent: ["poet"],
    graphName: ["poet", "chat"],
    accountId: [account],
    runId: ["run 1", "run 2", "run 3"],
    content: ["A line about rivers"],
    input: [{}, { message: "A line about rivers" }],
    model: [null, "offline"],
    threadName: threadNames,
    threadId: threadNames,
    stateKey: threadNames,
    checkpointId: [checkpointId ?? ""],
    before: [checkpointId ?? ""],
    messageId: [messageId],
    id: [path.startsWith("/crons") ? String(cron.id) : String(attachment.id)],
    schedule: ["*/5 * * * *", "every 1 h", "0 0 9 * * 1-5"],
    timeZone: ["UTC", "Europe/Berlin"],
    method: ["info", "agent/run", "agent/connect", "agent/stop", "resource/request"],
    path: ["/threads", "/threads?limit=2", "/threads/mine", "/threads/mine/archive"],
    httpMethod: ["GET", "PATCH", "POST"],
    params: [{ agentId: "poet", threadId: "mine" }, { path: "/threads" }],
    body: [null, { threadId: "mine" }, { agentId: "poet", name: "Rivers" }],
  };
}

interface Answered {
  readonly id?: string;
  readonly checkpointId?: string;
  readonly messages?: readonly { readonly id: string }[];
}
