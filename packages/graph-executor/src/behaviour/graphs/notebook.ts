import { Annotation, END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  topic: Annotation<string>({ reducer: (_, next) => next, default: () => "" }),
  notes: Annotation<string[]>({ reducer: (known, more) => [...known, ...more], default: () => [] }),
  /** Not part of the input: only the graph itself may write it. */
  balance: Annotation<number>({ reducer: (_, next) => next, default: () => 0 }),
});
const Input = Annotation.Root({ ...MessagesAnnotation.spec, topic: State.spec.topic });

/** Writes each message down under its topic: a state with something to update, list, and go back to. */
export const notebook = new StateGraph({ state: State, input: Input, output: State })
  .addNode("note", (state: typeof State.State) => ({
    notes: [`${state.topic}: ${state.messages.at(-1)?.text ?? ""}`],
    balance: state.balance + 1,
  }))
  .addEdge(START, "note")
  .addEdge("note", END)
  .compile({ name: "notebook" });
