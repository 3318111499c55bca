// CopilotKit's runtime with our runner, as a process of its own: node runtime.mjs DATABASE_URL LEASE_MS
import { createServer } from "node:http";
import { AbstractAgent } from "@ag-ui/client";
import { CopilotRuntime } from "@copilotkit/runtime/v2";
import { createCopilotNodeListener } from "@copilotkit/runtime/v2/node";
import { ThroughlineRunner } from "@throughline/copilotkit-runner";
import { Observable } from "rxjs";

const [databaseUrl, leaseMs] = process.argv.slice(2);
const BETWEEN_WORDS_MS = 40;

/** Counts to the number in what was said to it last, aloud. Knows nothing of who listens. */
class Counter extends AbstractAgent {
  run({ threadId, runId, messages }) {
    const goal = Number(/\d+/.exec(String(messages.at(-1)?.content))?.[0] ?? 3);
    const messageId = `answer-${runId}`;
    return new Observable((subscriber) => {
      subscriber.next({ type: "RUN_STARTED", threadId, runId });
      subscriber.next({ type: "TEXT_MESSAGE_START", messageId, role: "assistant" });
      let at = 0;
      const finish = () => {
        clearInterval(timer);
        subscriber.next({ type: "TEXT_MESSAGE_END", messageId });
        subscriber.next({ type: "RUN_FINISHED", threadId, runId });
        subscriber.complete();
      };
      const timer = setInterval(() => {
        if (this.isStopped) return finish();
        at += 1;
        subscriber.next({ type: "TEXT_MESSAGE_CONTENT", messageId, delta: `${at} ` });
        if (at >= goal) finish();
      }, BETWEEN_WORDS_MS);
      return () => clearInterval(timer);
    });
  }

  abortRun() {
    this.isStopped = true;
  }
}

/** Says a few words and dies of an error with a secret in it. */
class Failing extends AbstractAgent {
  run({ threadId, runId }) {
    return new Observable((subscriber) => {
      subscriber.next({ type: "RUN_STARTED", threadId, runId });
      setTimeout(() => subscriber.error(new Error("key sk-secret was refused")), BETWEEN_WORDS_MS);
    });
  }
}

const runner = new ThroughlineRunner({
  store: { kind: "postgres", databaseUrl },
  leaseMs: Number(leaseMs),
  cursors: process.env.CURSORS === "yes",
  onError: () => {},
});
const runtime = new CopilotRuntime({
  agents: { "langgraph:count": new Counter(), "langgraph:failing": new Failing() },
  runner,
});
const server = createServer(createCopilotNodeListener({ runtime, basePath: "/api/copilotkit" }));
server.listen(0, "127.0.0.1", () => process.send?.({ port: server.address().port }));
