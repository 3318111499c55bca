import {
  createLangGraphDevProvider,
  createLangGraphServerAdapter,
  type ServerProviderOptions,
} from "@throughline/graph-executor";
import {
  BEHAVIOUR_PROJECT,
  runExecutorBehaviour,
} from "../../packages/graph-executor/src/behaviour/executor-behaviour.js";
import { startUpstreamServer } from "./upstream-server.js";

async function onServer(
  make: (options: ServerProviderOptions) => ReturnType<typeof createLangGraphDevProvider>,
) {
  const server = await startUpstreamServer({ project: BEHAVIOUR_PROJECT });
  return { provider: make({ url: server.url }), close: () => server.stop() };
}

runExecutorBehaviour("LangGraphDevProvider", () => onServer(createLangGraphDevProvider));
runExecutorBehaviour("LangGraphServerAdapter", () => onServer(createLangGraphServerAdapter));
