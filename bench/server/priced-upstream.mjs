// Answers as LiteLLM does, at a person's pace: the list of models, and streams whose last event tells their price.
import { once } from "node:events";
import { createServer } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { answerParent } from "./answer-parent.mjs";
import { HUMAN } from "./first-token.mjs";

const MODEL = { model_group: "bench", input_cost_per_token: 0.000001, output_cost_per_token: 0.000002 };

const server = createServer(async (request, response) => {
  for await (const _ of request);
  if (request.method === "GET") {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ data: [MODEL] }));
    return;
  }
  response.writeHead(200, {
    "content-type": "text/event-stream",
    "x-litellm-model-group": MODEL.model_group,
  });
  const send = (fields) =>
    response.write(
      `data: ${JSON.stringify({ id: "chatcmpl-bench", model: "bench", object: "chat.completion.chunk", ...fields })}\n\n`,
    );
  const say = (delta, finish_reason = null) => send({ choices: [{ index: 0, delta, finish_reason }] });
  await pause(HUMAN.firstMs);
  for (let token = 0; token < HUMAN.tokens; token++) {
    if (token > 0) await pause(HUMAN.paceMs);
    say({ ...(token === 0 && { role: "assistant" }), content: ` word${token}` });
  }
  say({}, "stop");
  const usage = {
    prompt_tokens: 1,
    completion_tokens: HUMAN.tokens,
    total_tokens: HUMAN.tokens + 1,
    cost: 0.000051,
  };
  send({ choices: [], usage });
  response.end("data: [DONE]\n\n");
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
answerParent({ url: () => `http://127.0.0.1:${server.address().port}` });
