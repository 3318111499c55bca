import { AIMessage } from "@langchain/core/messages";
import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { type Reply, ScriptedModel, sayer } from "./scripted-model.js";

/** One node that gives what a model streamed. */
function chat(reply: Reply) {
  const model = new ScriptedModel(() => reply);
  return new StateGraph(MessagesAnnotation)
    .addNode("model", async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
    .addEdge(START, "model")
    .addEdge("model", END)
    .compile();
}

export const plainChat = chat({ text: "Hello there, friend." });

export const responsesApi = chat({
  blocks: [
    { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "Thinking." }] },
    { type: "text", text: "From the Responses API.", annotations: [] },
  ],
  metadata: { finish_reason: undefined, status: "completed", id: "resp_1" },
});

export const reasoning = chat({
  blocks: [
    { type: "reasoning", reasoning: "Let me think." },
    { type: "text", text: "I have thought." },
  ],
});

export const thinking = chat({
  blocks: [
    { type: "thinking", thinking: "Hm.", signature: "sig" },
    { type: "text", text: "So it is." },
  ],
});

export const refusal = chat({ blocks: [{ type: "refusal", refusal: "I can't help with that." }] });

export const serverTools = chat({
  blocks: [
    { type: "server_tool_use", id: "srv_1", name: "web_search", input: { query: "fjords" } },
    { type: "text", text: "Found on the web." },
  ],
});

export const citations = chat({
  blocks: [
    {
      type: "text",
      text: "Fjords are deep.",
      annotations: [{ type: "citation", url: "https://example.com/fjords", title: "Fjords" }],
    },
  ],
});

export const mediaMessage = chat({
  blocks: [
    { type: "text", text: "A picture: " },
    { type: "image_url", image_url: { url: "https://example.com/fjord.png" } },
  ],
});

/** Two model calls in one node, of which only the second is committed. */
export const router = new StateGraph(MessagesAnnotation)
  .addNode("answer", async ({ messages }) => {
    await sayer("sales").invoke(messages);
    return { messages: [await sayer("Sales will answer.").invoke(messages)] };
  })
  .addEdge(START, "answer")
  .addEdge("answer", END)
  .compile();

/** A model whose stream is hidden by LangGraph's own tag. */
export const nostream = new StateGraph(MessagesAnnotation)
  .addNode("answer", async ({ messages }) => {
    const quiet = await sayer("Said quietly.").invoke(messages, { tags: ["nostream"] });
    return { messages: [quiet] };
  })
  .addEdge(START, "answer")
  .addEdge("answer", END)
  .compile();

/** A message that no model made and that has no text but a call. */
export const handmadeCall = new StateGraph(MessagesAnnotation)
  .addNode("call", () => ({
    messages: [
      new AIMessage({ content: "", tool_calls: [{ id: "call_hand", name: "ring", args: { times: 2 } }] }),
      { role: "tool", content: "rang", tool_call_id: "call_hand", name: "ring" },
      new AIMessage("It rang twice."),
    ],
  }))
  .addEdge(START, "call")
  .addEdge("call", END)
  .compile();
