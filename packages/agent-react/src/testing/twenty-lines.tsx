import { allFeatures, contentText, createAgentClient } from "@throughline/agent-client";
import { AgentProvider, ThreadProvider, useCommands, useMessages } from "../index.js";

const client = createAgentClient({ url: "/api/copilotkit", ...allFeatures });

export const App = () => (
  <AgentProvider client={client}>
    <ThreadProvider agentId="langgraph:poet" threadId="my first thread">
      <Chat />
    </ThreadProvider>
  </AgentProvider>
);

function Chat() {
  const { send } = useCommands();
  const messages = useMessages().map(({ id, content }) => <p key={id}>{contentText(content)}</p>);
  return (
    <form action={(form) => void send(`${form.get("text")}`)}>
      {messages}
      <input name="text" />
    </form>
  );
}
