import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";

export interface DoubleCall {
  readonly headers: IncomingHttpHeaders;
  readonly body: Record<string, unknown>;
}

/** For tests: what stands where LiteLLM would. */
export interface OpenAiDouble {
  readonly url: string;
  readonly calls: readonly DoubleCall[];
  /** The next call is answered with this status. */
  failNext(status: number): void;
  stop(): Promise<void>;
}

const BASE = { id: "chatcmpl-1", created: 1, model: "fast-1" };
const USAGE = { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 };

/** Speaks the chat-completions protocol as a LiteLLM proxy does, plain and streamed. */
export async function startOpenAiDouble(): Promise<OpenAiDouble> {
  const calls: DoubleCall[] = [];
  const failures: number[] = [];
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const piece of request) text += piece;
    const body: Record<string, unknown> = JSON.parse(text || "{}");
    calls.push({ headers: request.headers, body });
    const status = failures.shift();
    if (status !== undefined) respond(response, status, { error: { message: "told to fail" } });
    else if (body.stream === true) stream(response);
    else {
      const message = { role: "assistant", content: "Good morning" };
      const choices = [{ index: 0, finish_reason: "stop", message }];
      respond(response, 200, { ...BASE, object: "chat.completion", choices, usage: USAGE });
    }
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`,
    calls,
    failNext: (status) => void failures.push(status),
    stop: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}

/** What a call says of itself for LiteLLM's logs. */
export function labelsOf(headers: IncomingHttpHeaders | undefined): unknown {
  return JSON.parse(String(headers?.["x-litellm-spend-logs-metadata"]));
}

function respond(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

function stream(response: ServerResponse): void {
  const call = (piece: object) => ({ delta: { tool_calls: [{ index: 0, ...piece }] } });
  const choices = [
    { delta: { role: "assistant", content: "" } },
    { delta: { content: "Good " } },
    { delta: { content: "morning" } },
    call({ id: "call_1", type: "function", function: { name: "clock", arguments: "" } }),
    call({ function: { arguments: '{"zone":' } }),
    call({ function: { arguments: '"UTC"}' } }),
    { delta: {}, finish_reason: "tool_calls" },
  ];
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (event: object) =>
    response.write(`data: ${JSON.stringify({ ...BASE, object: "chat.completion.chunk", ...event })}\n\n`);
  for (const choice of choices) send({ choices: [{ index: 0, finish_reason: null, ...choice }] });
  send({ choices: [], usage: USAGE });
  response.end("data: [DONE]\n\n");
}
