import { HumanMessage, SystemMessage } from "@langchain/core/messages";
import { END, type LangGraphRunnableConfig, START, StateGraph } from "@langchain/langgraph";
import { createModel, modelContextSchema, type OfflineScript } from "@throughline/langgraph-models";
import {
  ConversationState,
  conversationInputSchema,
  conversationStateSchema,
  type GraphDefinition,
  type GraphDeps,
  persistence,
  type RunnableGraph,
} from "./shared.js";

const INSTRUCTIONS =
  "You are a poet. Answer every message with one short poem on what it asks for: a title, two stanzas, plain words.";

export function createPoetGraph(deps: GraphDeps): RunnableGraph {
  const write = async (state: typeof ConversationState.State, config: LangGraphRunnableConfig) => {
    const model = await createModel(config, { keys: deps.keys, offline: poetScript });
    return { messages: [await model.invoke([new SystemMessage(INSTRUCTIONS), ...state.messages], config)] };
  };
  return new StateGraph({ state: ConversationState, output: ConversationState, context: modelContextSchema })
    .addNode("poet", write)
    .addEdge(START, "poet")
    .addEdge("poet", END)
    .compile({ name: "poet", ...persistence(deps) });
}

type Stanzas = (topic: string) => string;

const POEMS: readonly Stanzas[] = [
  (topic) => `For ${topic}

The lamp is low, the street has gone to sleep,
and still I think of ${topic} by and by:
of what we lose, of what we mean to keep,
of one small window open to the sky.

Tomorrow will be loud with other things.
Tonight the quiet is enough for me.
I write of ${topic}, and the kettle sings,
and every line comes home as if to sea.`,
  (topic) => `Small Hours

Who taught the dark to speak of ${topic} so,
in words that nobody has yet set down?
I only heard the river, far below,
repeat it to the bridges of the town.

And when the morning came with bread and rain
I kept the rhythm, though the words were gone;
say ${topic} once, and there it starts again,
a door, a step, a light, and so goes on.`,
  (topic) => `A Note on the Table

Forgive me, I have gone to look for ${topic}.
The bread is cut, the window left ajar.
If someone calls, then tell them that I hope it
is near enough to reach, and still as far

as anything worth walking for must be.
I took the blue umbrella and a pen.
Whatever ${topic} has to say to me
I'll write it down, and read it to you then.`,
];

/** A poem on the topic of the newest message; another poem for each message of the same conversation. */
const poetScript: OfflineScript = ({ messages, lastUserText }) => {
  const topic = topicOf(lastUserText);
  const turn = messages.filter((message) => HumanMessage.isInstance(message)).length;
  const poem = POEMS[(topic.length + turn) % POEMS.length];
  return [{ kind: "text", text: poem ? poem(topic) : "" }];
};

/** "Please write a poem about the sea!" → "the sea". */
export function topicOf(request: string): string {
  const line = request.replace(/\s+/g, " ").trim();
  const after = /\b(?:about|on|of|for)\s+(.+)$/i.exec(line)?.[1] ?? line;
  const topic = after
    .replace(/[.!?…,;:]+$/, "")
    .slice(0, 60)
    .trim();
  return topic === "" ? "nothing in particular" : topic;
}

export const poetDefinition: GraphDefinition = {
  graphName: "poet",
  name: "Poet",
  description: "Writes a short poem on whatever you name.",
  capabilities: ["chat"],
  commands: [],
  suggestions: ["Write a poem about the sea", "A poem about early trains"],
  inputSchema: conversationInputSchema,
  outputSchema: conversationStateSchema,
  create: createPoetGraph,
};
