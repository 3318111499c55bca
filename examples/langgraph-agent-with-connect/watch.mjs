// node watch.mjs URL GRAPH THREAD: shows a LangGraph thread, and what happens in it until the active run ends.
import { LangGraphAgent } from "@ag-ui/langgraph";

const [deploymentUrl, graphId, threadId] = process.argv.slice(2);
if (!threadId) {
  console.error("node watch.mjs URL GRAPH THREAD");
  process.exit(2);
}

const agent = new LangGraphAgent({ deploymentUrl, graphId, threadId });

await agent.connectAgent(
  {},
  {
    onRunStartedEvent: ({ event }) => console.log(`run ${event.runId}`),
    onTextMessageContentEvent: ({ event }) => void process.stdout.write(event.delta),
    onTextMessageEndEvent: () => console.log(),
    onCustomEvent: ({ event }) => console.log(`${event.name}: ${event.value}`),
    onRunErrorEvent: ({ event }) => console.log(`failed: ${event.message}`),
  },
);

console.log("The thread now:");
for (const { role, content } of agent.messages) console.log(`  ${role}: ${content}`);
