import {
  Annotation,
  END,
  type LangGraphRunnableConfig,
  MessagesAnnotation,
  START,
  StateGraph,
} from "@langchain/langgraph";

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  ticks: Annotation<number>({ reducer: (_, next) => next, default: () => 0 }),
});

/**
 * Its first run starts a schedule in the server's own process, which then writes the thread's state behind the server's
 * back: no run, no stream, only a new checkpoint.
 */
export const keeper = new StateGraph(State)
  .addNode("schedule", (_, config: LangGraphRunnableConfig) => {
    const thread_id: unknown = config.configurable?.thread_id;
    let ticks = 0;
    const timer = setInterval(() => {
      ticks++;
      void keeper.updateState({ configurable: { thread_id } }, { ticks }, "schedule");
      if (ticks === 2) clearInterval(timer);
    }, 700);
    return {};
  })
  .addEdge(START, "schedule")
  .addEdge("schedule", END)
  .compile({ name: "keeper" });
