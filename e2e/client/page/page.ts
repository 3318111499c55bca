// The whole page: one thread, named by `asked`, driven from outside by `tab`.
import { allFeatures, createAgentClient } from "@throughline/agent-client";
import { shownBy, streamedLength } from "../shown.js";
import "./tab.js";

let token: string | undefined;

/** Signs in with the page's own server, where the test asks for that. */
async function headers({ isRenewal }: { readonly isRenewal: boolean }): Promise<Record<string, string>> {
  if (isRenewal || token === undefined) token = await (await fetch("/token")).text();
  return { authorization: `Bearer ${token}` };
}

const client = createAgentClient({
  url: "/api/copilotkit",
  ...allFeatures,
  connectionPolicy: { firstRetryMs: 50, maxRetryMs: 400 },
  commandPolicy: { sendRetryMs: 50, sendRetries: 20 },
  ...(asked.isSignedIn && { headers }),
});
const thread = client.thread(asked.agentId, asked.threadId);
thread.open();

let syncing: ReturnType<typeof globalThis.tab.synced>;

globalThis.tab = {
  send: (text) => thread.send(text),
  answer(value) {
    const [question] = thread.getSnapshot().view.interrupts;
    return thread.answer(question?.id ?? "", value);
  },
  syncTwiceAtNextRun(earlier, later) {
    syncing = new Promise((resolve) => {
      const leave = thread.frames((frames) => {
        if (!frames.some(({ event }) => event.type === "RUN_STARTED")) return;
        leave();
        queueMicrotask(() => resolve(Promise.all([thread.sync(earlier), thread.sync(later)])));
      });
    });
  },
  synced: () => syncing,
  shown: () => shownBy(thread),
  now() {
    const snapshot = thread.getSnapshot();
    const { view, connection, pending } = snapshot;
    return {
      status: view.run?.status,
      connection: connection.kind,
      streamed: streamedLength(snapshot),
      messages: view.messages.length,
      isSyncing: pending.sync,
    };
  },
};
