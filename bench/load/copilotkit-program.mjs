// CopilotKit's runtime with the runner it comes with, which keeps threads in memory. Runs among its published packages.
import { createServer } from "node:http";
import { AbstractAgent } from "@ag-ui/client";
import { CopilotRuntime } from "@copilotkit/runtime/v2";
import { createCopilotNodeListener } from "@copilotkit/runtime/v2/node";
import { Observable } from "rxjs";

/** Types as the bench's graph does, without a graph: what LangGraph costs is not counted against the runtime. */
class Typist extends AbstractAgent {
  run({ threadId, runId, state: { tokens, paceMs } }) {
    const messageId = `answer-${runId}`;
    return new Observable((subscriber) => {
      subscriber.next({ type: "RUN_STARTED", threadId, runId });
      subscriber.next({ type: "TEXT_MESSAGE_START", messageId, role: "assistant" });
      const firstDue = Date.now();
      let token = 0;
      let timer;
      const type = () => {
        const due = firstDue + token * paceMs;
        subscriber.next({ type: "TEXT_MESSAGE_CONTENT", messageId, delta: ` ${token}:${due}` });
        token += 1;
        if (token < tokens) timer = setTimeout(type, Math.max(0, due + paceMs - Date.now()));
        else finish();
      };
      const finish = () => {
        subscriber.next({ type: "TEXT_MESSAGE_END", messageId });
        subscriber.next({ type: "RUN_FINISHED", threadId, runId });
        subscriber.complete();
      };
      type();
      return () => clearTimeout(timer);
    });
  }
}

const runtime = new CopilotRuntime({ agents: { "langgraph:typist": new Typist() } });
const server = createServer(createCopilotNodeListener({ runtime, basePath: "/api/copilotkit" }));
server.listen(0, "127.0.0.1", () => process.send?.({ port: server.address().port }));
process.once("disconnect", () => process.exit());
