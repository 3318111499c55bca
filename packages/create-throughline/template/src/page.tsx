import { allFeatures, createAgentClient } from "@throughline/agent-client";
import {
  AgentProvider,
  contentText,
  ThreadProvider,
  useCommands,
  useMessage,
  useMessageIds,
  useRun,
} from "@throughline/agent-react";
import { memo } from "react";
import { createRoot } from "react-dom/client";

const client = createAgentClient({ url: "/api/copilotkit", ...allFeatures });

// The thread's id is in the address, so a reload or another window shows the same thread.
const threadId = location.hash.slice(1) || crypto.randomUUID();
location.hash = threadId;

function Page() {
  return (
    <AgentProvider client={client}>
      <ThreadProvider agentId="langgraph:agent" threadId={threadId}>
        <h1>My agent</h1>
        <Messages />
        <Composer />
      </ThreadProvider>
    </AgentProvider>
  );
}

function Messages() {
  return useMessageIds().map((id) => <Message key={id} id={id} />);
}

const Message = memo(({ id }: { id: string }) => {
  const message = useMessage(id);
  return message && <p className={`message ${message.role}`}>{contentText(message.content)}</p>;
});

function Composer() {
  const { send, stop } = useCommands();
  const isRunning = useRun()?.status === "running";
  return (
    <form action={(form) => void send(String(form.get("text")))}>
      <input name="text" aria-label="Message" placeholder="Say something" autoComplete="off" required />
      {isRunning ? (
        <button type="button" onClick={() => void stop()}>
          Stop
        </button>
      ) : (
        <button type="submit">Send</button>
      )}
    </form>
  );
}

const page = document.getElementById("page");
if (page) createRoot(page).render(<Page />);
