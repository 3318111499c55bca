import { Annotation, END, type LangGraphRunnableConfig, START, StateGraph } from "@langchain/langgraph";
import { z } from "zod";

const State = Annotation.Root({
  steps: Annotation<number>({ reducer: (sum, more) => sum + more, default: () => 0 }),
  seen: Annotation<string>(),
});
const context = z.object({ to: z.number().default(1), tone: z.string().optional() });

/** Takes as many steps as it is configured to, and stores what it finds in `context` and in `configurable`. */
export const configured = new StateGraph({ state: State, context })
  .addNode("step", (_state, config: LangGraphRunnableConfig<{ tone?: string | undefined }>) => ({
    steps: 1,
    seen: JSON.stringify([
      config.context?.tone,
      config.configurable?.tone,
      "model" in Object(config.configurable),
    ]),
  }))
  .addEdge(START, "step")
  .addConditionalEdges(
    "step",
    (state, config: LangGraphRunnableConfig<{ to?: number | undefined }>) =>
      state.steps < (config.context?.to ?? 1) ? "step" : END,
    ["step", END],
  )
  .compile({ name: "configured" });
