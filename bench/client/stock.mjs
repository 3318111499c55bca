// A stock @ag-ui/client: the pipeline of `runAgent`, fed events from memory, with one subscriber.
import { createRequire } from "node:module";
import { answerStart, endEvents, priorMessages, RUN_ID, runStarted, THREAD_ID } from "./conversation.mjs";

const PACKAGES = {
  "@ag-ui/client": () => import("@ag-ui/client"),
  "@ag-ui/client-1": () => import("@ag-ui/client-1"),
};

/**
 * @param {keyof typeof PACKAGES} name
 * @returns {Promise<(workload: import("./conversation.mjs").Workload) => import("./measure-stream.mjs").Open>}
 */
export async function loadStock(name) {
  const { AbstractAgent } = await PACKAGES[name]();
  // Its own copy: an observable of another would not be one to it.
  const require = createRequire(createRequire(import.meta.url).resolve(name));
  const { Subject } = require("rxjs");

  class FedAgent extends AbstractAgent {
    upstream = new Subject();
    run() {
      return this.upstream;
    }
  }

  return ({ messages, state, events }) =>
    async () => {
      const agent = new FedAgent({
        threadId: THREAD_ID,
        initialMessages: priorMessages(messages),
        initialState: structuredClone(state),
      });
      const notified = countNotifications();
      const ran = agent.runAgent({ runId: RUN_ID }, notified.subscriber);
      await until(() => agent.upstream.observed);
      const feed = (event) => agent.upstream.next(event);
      feed(runStarted);
      feed(answerStart);
      await notified.settle();
      const first = notified.count() + 1;
      feed(events[0]);
      await notified.reach(first);
      return {
        async stream() {
          for (let index = 1; index < events.length; index++) feed(events[index]);
          await notified.reach(first + events.length - 1);
        },
        async close() {
          const text = agent.messages.find(({ id }) => id === answerStart.messageId)?.content;
          const result = {
            text,
            state: agent.state,
            notified: notified.count() - first,
          };
          for (const event of endEvents) feed(event);
          agent.upstream.complete();
          await ran;
          return result;
        },
      };
    };
}

function countNotifications() {
  let count = 0;
  let wanted = Number.POSITIVE_INFINITY;
  let arrived;
  const told = () => {
    count++;
    if (count >= wanted) arrived();
  };
  return {
    subscriber: { onMessagesChanged: told, onStateChanged: told },
    count: () => count,
    reach(target) {
      if (count >= target) return Promise.resolve();
      wanted = target;
      return new Promise((resolve) => {
        arrived = resolve;
      });
    },
    /** Until what was fed so far has gone through. */
    settle: () => new Promise((resolve) => setImmediate(resolve)),
  };
}

async function until(condition) {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}
