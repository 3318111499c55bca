import { toGraphId } from "@throughline/ai-core";
import { graphRegistry, type RunnableGraph } from "@throughline/graph-executor";
import { describeGraph, LANGGRAPH_CATALOG } from "@throughline/langgraph-graphs";
import { envKeyResolver } from "@throughline/langgraph-models";
import { breakpoint, pair, shapes } from "../questions/graphs/question-graphs.js";
import { describeQuestions } from "../questions/question-suite.js";

function registered(graphName: string, graph: RunnableGraph) {
  const schema = { type: "object", properties: { messages: {}, answer: {}, answers: {}, steps: {} } };
  const descriptor = {
    graphId: toGraphId(graphName),
    graphName,
    name: graphName,
    description: "",
    capabilities: [],
    commands: [],
    inputSchema: schema,
    outputSchema: schema,
  };
  return { descriptor, create: () => graph };
}

describeQuestions({
  async graphs() {
    const keys = envKeyResolver({});
    const approver = LANGGRAPH_CATALOG.filter(({ graphName }) => graphName === "approver");
    const source = graphRegistry([
      ...approver.map((definition) => ({
        descriptor: describeGraph(definition),
        create: () => definition.create({ keys }),
      })),
      ...Object.entries({ shapes, breakpoint, pair }).map(([name, graph]) => registered(name, graph)),
    ]);
    return { source };
  },
  // Both answer every row in the long form of this suite.
  versions: (row) => [row % 2 === 0 ? "0.0" : "1.0"],
});
