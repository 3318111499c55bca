import { createLangGraphDevProvider } from "@throughline/graph-executor";
import { startUpstreamServer } from "../executor/upstream-server.js";
import { describeQuestions } from "./question-suite.js";

const PROJECT = new URL("./graphs/langgraph.json", import.meta.url);

describeQuestions({
  async graphs() {
    const server = await startUpstreamServer({ project: PROJECT });
    const source = createLangGraphDevProvider({ url: server.url });
    return { source, stop: () => server.stop() };
  },
  versions: () => ["0.0", "1.0"],
});
