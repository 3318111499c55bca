// A tab that follows: the leader's words come by the browser's channel, which copies them, and are shown as the leader shows them.
import { createAgentClient, createMemoryLocks, messageById, shareTabs } from "@throughline/agent-client";
import { answerStart, THREAD_ID } from "./conversation.mjs";
import { AGENT_ID, framesOf, serviceOf } from "./ours.mjs";

/**
 * @param {import("./conversation.mjs").Workload} workload
 * @returns {import("./measure-stream.mjs").Open}
 */
export function prepareFollower(workload) {
  const { prelude, frames } = framesOf(workload);
  return async () => {
    const locks = createMemoryLocks();
    const words = [];
    let sink;
    const leader = createTab(
      locks,
      serviceOf((opened) => (sink = opened)),
    );
    const follower = createTab(
      locks,
      serviceOf(() => {}),
    );
    leader.to = follower;
    follower.to = leader;
    leader.thread.open();
    await rounds();
    sink.opened();
    let told = 0;
    const handle = follower.thread;
    handle.subscribe(() => {
      handle.getSnapshot();
      told++;
    });
    handle.open();
    await rounds();
    sink.frames(0, prelude);
    sink.frames(0, [frames[0]]);
    await rounds();
    follower.draw();
    const before = told;
    // Frames go as text, of which a browser copies the bytes; a tab that follows pays for parsing it.
    leader.keep = (message) => words.push(message);
    for (let index = 1; index < frames.length; index++) sink.frames(0, [frames[index]]);
    return {
      stream() {
        for (const word of words) {
          follower.hear(word);
          follower.draw();
        }
      },
      close() {
        const { view } = handle.getSnapshot();
        const shown = {
          text: messageById(view, answerStart.messageId)?.content,
          state: view.state,
          notified: told - before,
        };
        leader.client.close();
        follower.client.close();
        return shown;
      },
    };
  };
}

function createTab(locks, service) {
  let due = [];
  const listeners = [];
  const tab = {
    to: undefined,
    keep: undefined,
    hear(message) {
      for (const listener of listeners) listener(message);
    },
    draw() {
      const now = due;
      due = [];
      for (const callback of now) callback();
    },
  };
  const channels = {
    open(name, listener) {
      if (name.endsWith(":tabs")) listeners.push(listener);
      return {
        post(message) {
          if (tab.keep) return tab.keep(message);
          const copy = structuredClone(message);
          queueMicrotask(() => tab.to?.hear(copy));
        },
        close() {},
      };
    },
  };
  tab.client = createAgentClient({
    url: "http://bench.invalid",
    tabs: shareTabs,
    locks,
    channels,
    service,
    schedule(callback) {
      due.push(callback);
      return () => {};
    },
  });
  tab.thread = tab.client.thread(AGENT_ID, THREAD_ID);
  return tab;
}

/** Until what tabs say to each other has been heard. */
async function rounds() {
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
}
