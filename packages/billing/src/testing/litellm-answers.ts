/** Answers of LiteLLM 1.106.2 as it gave them, shortened: 11 prompt tokens, 3 completion tokens, 0.000017 USD. */

const COMMON = {
  "x-litellm-attempted-fallbacks": "0",
  "x-litellm-attempted-retries": "0",
  "x-litellm-call-id": "echoed",
  "x-litellm-model-group": "cheap",
  "x-litellm-model-id": "dep-cheap-1",
};
/** Sent with streams too, and no cost of theirs. */
const LOOK_ALIKES = {
  "x-litellm-key-spend": "0.0",
  "x-litellm-response-cost-original": "0.0",
  "x-litellm-response-cost-input": "0.0",
};
const USAGE = { completion_tokens: 3, prompt_tokens: 11, total_tokens: 14 };

export type Answer = () => Response;

export function plainAnswer(headers: Readonly<Record<string, string>> = {}): Answer {
  return () =>
    new Response(JSON.stringify({ id: "chatcmpl-up-1", object: "chat.completion", usage: USAGE }), {
      headers: {
        "content-type": "application/json",
        ...COMMON,
        "x-litellm-response-cost": "1.7e-05",
        ...headers,
      },
    });
}

export const unpricedAnswer: Answer = () =>
  new Response(JSON.stringify({ id: "chatcmpl-up-5", usage: USAGE }), {
    headers: { "content-type": "application/json", ...COMMON, ...LOOK_ALIKES },
  });

export function errorAnswer(status: number, headers: Readonly<Record<string, string>> = {}): Answer {
  return () =>
    new Response(JSON.stringify({ error: { message: "…", type: "…", param: null, code: String(status) } }), {
      status,
      headers: { "content-type": "application/json", ...headers },
    });
}

const chat = (fields: object) =>
  `data: ${JSON.stringify({ id: "chatcmpl-up-2", object: "chat.completion.chunk", model: "cheap", ...fields })}\n\n`;
const token = (content: string) => chat({ choices: [{ index: 0, delta: { content } }] });

export const CHAT_EVENTS: readonly string[] = [
  token("w0"),
  token(' "usage" w1'),
  token(" w2"),
  chat({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }),
  // Its choices are not empty, which makes LangChain count it twice.
  chat({ choices: [{ index: 0, delta: {} }], usage: { ...USAGE, cost: 0.000017 } }),
  "data: [DONE]\n\n",
];

export const ERROR_EVENTS: readonly string[] = [
  token("w0"),
  'data: {"error": {"message": "…", "type": "None", "param": "None", "code": "500"}}\n\n',
];

export const RESPONSES_EVENTS: readonly string[] = [
  'data: {"type":"response.created","response":{"id":"resp_1","usage":null,"error":null}}\n\n',
  'data: {"type":"response.output_text.delta","delta":"w0"}\n\n',
  'data: {"type":"response.completed","response":{"id":"resp_1","error":null,"usage":{"input_tokens":11,"output_tokens":3,"total_tokens":14,"cost":0.000017}},"model":"chatonly"}\n\n',
  "data: [DONE]\n\n",
];

export const MESSAGES_EVENTS: readonly string[] = [
  'event: message_start\ndata: {"type": "message_start", "message": {"id": "msg_1", "usage": {"input_tokens": 0, "output_tokens": 0}}}\n\n',
  'event: content_block_delta\ndata: {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "w0"}}\n\n',
  'event: message_delta\ndata: {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"input_tokens": 11, "output_tokens": 3, "cost": 1.7e-05}}\n\n',
  'event: message_stop\ndata: {"type": "message_stop"}\n\n',
];

/** A stream of these chunks, which then ends, or breaks with an error. */
export function streamAnswer(
  chunks: readonly (string | Uint8Array)[],
  { breaks = false, headers = {} }: { breaks?: boolean; headers?: Readonly<Record<string, string>> } = {},
): Answer {
  return () => {
    const waiting = chunks.map((chunk) =>
      typeof chunk === "string" ? new TextEncoder().encode(chunk) : chunk,
    );
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          const next = waiting.shift();
          if (next) controller.enqueue(next);
          else if (breaks) controller.error(new TypeError("terminated"));
          else controller.close();
        },
      },
      { highWaterMark: 0 },
    );
    return new Response(body, {
      headers: { "content-type": "text/event-stream; charset=utf-8", ...COMMON, ...LOOK_ALIKES, ...headers },
    });
  };
}
