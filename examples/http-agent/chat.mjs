// node chat.mjs [THREAD] "what to say"
import { randomUUID } from "node:crypto";
import { HttpAgent } from "@ag-ui/client";

const service = process.env.THROUGHLINE_URL ?? "http://127.0.0.1:8000";
const [threadId = "hello", text] = process.argv.slice(2);
const agentOf = (action) =>
  new HttpAgent({ url: `${service}/api/copilotkit/agent/chat/${action}`, threadId });
const show = {
  onTextMessageContentEvent: ({ event }) => void process.stdout.write(event.delta),
  onToolCallEndEvent: ({ toolCallName, toolCallArgs }) =>
    void process.stdout.write(`[${toolCallName} ${JSON.stringify(toolCallArgs)}]\n`),
  onRunErrorEvent: ({ event }) => void process.stderr.write(`${event.message}\n`),
};

if (text === undefined) {
  // The thread as it stands, and the rest of what runs in it: from any program, any time.
  const watcher = agentOf("connect");
  await watcher.runAgent({}, show);
  for (const { role, content } of watcher.messages) process.stdout.write(`${role}: ${content ?? ""}\n`);
} else {
  const agent = agentOf("run");
  agent.addMessage({ id: randomUUID(), role: "user", content: text });
  await agent.runAgent({}, show);
  process.stdout.write("\n");
}
