// Two tabs that share a stream. The leader reads the service's bytes, shows them and tells the other tab; the follower hears that and
// shows the same. Each pays for one copy of what is told: a browser has the one write it and the other read it.
import { createAgentClient, createMemoryLocks, messageById, tabSharing } from "@throughline/agent-client";
import { answerStart, THREAD_ID } from "./conversation.mjs";
import { AGENT_ID, framesOf, serviceOf } from "./ours.mjs";

/**
 * @param {import("./conversation.mjs").Workload} workload
 * @returns {import("./measure-stream.mjs").Open}
 */
export function prepareLeader(workload) {
  const { prelude, frames } = framesOf(workload);
  const first = bytesOf([...prelude, frames[0]]);
  const pieces = frames.slice(1).map((frame) => bytesOf([frame]));
  return async () => {
    let pull;
    const leader = createTab(createMemoryLocks(), { fetch: async () => ({ ok: true, body }) });
    const body = {
      getReader: () => ({
        // What the piece before it brought is drawn by now.
        read() {
          leader.draw();
          return pull();
        },
      }),
    };
    let isRead;
    const started = new Promise((resolve) => {
      isRead = resolve;
    });
    let begin;
    pull = async () => {
      // The stream rests behind what is there before it is measured.
      pull = () => {
        isRead();
        return new Promise((resolve) => {
          begin = resolve;
        });
      };
      return { done: false, value: first };
    };
    const told = watch(leader);
    let posted = 0;
    leader.post = (message) => {
      structuredClone(message);
      posted++;
    };
    leader.thread.open();
    await started;
    const before = told();
    posted = 0;
    return {
      stream() {
        let next = 0;
        return new Promise((resolve) => {
          pull = async () => {
            if (next === pieces.length) {
              resolve();
              return new Promise(() => {});
            }
            return { done: false, value: pieces[next++] };
          };
          pull().then(begin);
        });
      },
      close() {
        if (posted < pieces.length) throw new Error(`The other tab was told ${posted} times.`);
        return shownBy(leader, told() - before);
      },
    };
  };
}

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
    const leader = createTab(locks, { service: serviceOf((opened) => (sink = opened)) });
    const follower = createTab(locks, { service: serviceOf(() => {}) });
    const passTo = (to) => (message) => {
      const copy = structuredClone(message);
      queueMicrotask(() => to.hear(copy));
    };
    leader.post = passTo(follower);
    follower.post = passTo(leader);
    leader.thread.open();
    await rounds();
    sink.opened();
    const told = watch(follower);
    follower.thread.open();
    await rounds();
    sink.events(0, prelude);
    sink.events(0, [frames[0]]);
    leader.draw();
    await rounds();
    follower.draw();
    const before = told();
    leader.post = (message) => words.push(message);
    for (const frame of frames.slice(1)) {
      sink.events(0, [frame]);
      leader.draw();
    }
    return {
      stream() {
        for (const word of words) {
          follower.hear(structuredClone(word));
          follower.draw();
        }
      },
      close() {
        leader.client.close();
        return shownBy(follower, told() - before);
      },
    };
  };
}

/** Frames as the service writes them. */
function bytesOf(frames) {
  const text = frames.map(({ id, data }) => `event: 0\n${id ? `id: ${id}\n` : ""}data: ${data}\n\n`);
  return new TextEncoder().encode(text.join(""));
}

/** A subscriber that reads what is shown. Says how often it was told. */
function watch({ thread }) {
  let told = 0;
  thread.subscribe(() => {
    thread.getSnapshot();
    told++;
  });
  return () => told;
}

function shownBy({ client, thread }, notified) {
  const { view } = thread.getSnapshot();
  client.close();
  return { text: messageById(view, answerStart.messageId)?.content, state: view.state, notified };
}

function createTab(locks, world) {
  let due = [];
  const listeners = [];
  const tab = {
    post: (_message) => {},
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
      return { post: (message) => tab.post(message), close() {} };
    },
  };
  tab.client = createAgentClient({
    url: "http://bench.invalid",
    tabs: tabSharing,
    locks,
    channels,
    schedule(callback) {
      due.push(callback);
      return () => {};
    },
    ...world,
  });
  tab.thread = tab.client.thread(AGENT_ID, THREAD_ID);
  return tab;
}

/** Until what tabs say to each other has been heard. */
async function rounds() {
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
}
