// @ts-check
import { once } from "node:events";
import { createServer } from "node:http";
import { setTimeout as delay } from "node:timers/promises";

/** Every prompt counts as this many tokens. */
const PROMPT_TOKENS = 11;

const DEFAULTS = { tokens: 3, delay: 0, first: 0, failAfter: -1, status: 0, times: Number.POSITIVE_INFINITY };

/**
 * What a prompt asks of the upstream: `tokens=5 delay=20 first=500 status=500 times=1 failAfter=2 mode=cut`.
 *
 * @param {string} text
 */
function readPlan(text) {
  const numbers = { ...DEFAULTS };
  for (const [, name = "", value = ""] of text.matchAll(/(\w+)=(\d+)\b/g)) {
    if (Object.hasOwn(numbers, name)) Object.assign(numbers, { [name]: Number(value) });
  }
  return { ...numbers, mode: /\bmode=(\w+)/.exec(text)?.[1] ?? "cut" };
}

/**
 * A provider in the shape of OpenAI's chat API that does what the last message says, the same each time.
 *
 * @returns {Promise<import("./openai-upstream.d.mts").OpenAiUpstream>}
 */
export async function startOpenAiUpstream() {
  /** @type {import("./openai-upstream.d.mts").UpstreamCall[]} */
  const calls = [];
  /** @type {Map<string, number>} */
  const failuresLeft = new Map();
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });

  /**
   * @param {import("node:http").IncomingMessage} request
   * @param {import("node:http").ServerResponse} response
   */
  async function answer(request, response) {
    let raw = "";
    for await (const chunk of request) raw += chunk;
    const body = JSON.parse(raw);
    const last = body.messages?.at(-1)?.content ?? "";
    const text = typeof last === "string" ? last : JSON.stringify(last);
    const plan = readPlan(text);
    const id = `chatcmpl-up-${calls.length + 1}`;
    const call = { model: body.model, text, headers: { ...request.headers }, sent: 0, outcome: "open" };
    calls.push(call);
    response.on("close", () => {
      if (call.outcome === "open") call.outcome = "gone";
    });
    if (plan.first > 0) await delay(plan.first);
    const left = failuresLeft.get(text) ?? plan.times;
    if (plan.status > 0 && left > 0) {
      failuresLeft.set(text, left - 1);
      call.outcome = "refused";
      response.writeHead(plan.status, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: `scripted ${plan.status}`, type: "scripted" } }));
      return;
    }
    const usage = {
      prompt_tokens: PROMPT_TOKENS,
      completion_tokens: plan.tokens,
      total_tokens: PROMPT_TOKENS + plan.tokens,
    };
    const common = { id, created: 1_700_000_000, model: `${body.model}-2026-01-01` };
    const words = Array.from({ length: plan.tokens }, (_, index) => `${index > 0 ? " " : ""}w${index}`);
    if (!body.stream) {
      await delay(plan.delay * plan.tokens);
      call.outcome = "whole";
      response.writeHead(200, { "content-type": "application/json" });
      const message = { role: "assistant", content: words.join("") };
      const choices = [{ index: 0, finish_reason: "stop", message }];
      response.end(JSON.stringify({ ...common, object: "chat.completion", choices, usage }));
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    const send = (/** @type {unknown} */ event) => response.write(`data: ${JSON.stringify(event)}\n\n`);
    const chunk = (/** @type {object} */ delta, /** @type {string | null} */ finish_reason = null) =>
      send({ ...common, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason }] });
    chunk({ role: "assistant", content: "" });
    for (const [index, word] of words.entries()) {
      if (response.destroyed) return;
      if (index === plan.failAfter) {
        call.outcome = plan.mode;
        if (plan.mode === "error") {
          send({ error: { message: "scripted error in mid-stream", type: "server_error", code: "500" } });
          response.end();
        } else if (plan.mode === "cut") {
          response.destroy();
        } else {
          await once(response, "close");
        }
        return;
      }
      chunk({ content: word });
      call.sent += 1;
      if (plan.delay > 0) await delay(plan.delay);
    }
    chunk({}, "stop");
    if (body.stream_options?.include_usage) {
      send({ ...common, object: "chat.completion.chunk", choices: [], usage });
    }
    response.write("data: [DONE]\n\n");
    call.outcome = "whole";
    response.end();
  }

  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
