// Ours: the client as a page uses it, fed by a service from memory. Frames, as the text they come as, go through the line, the
// projection and the notifier; one subscriber is told of each and reads what is shown.
import { createAgentClient, messageById } from "@throughline/agent-client";
import { answerStart, endEvents, priorMessages, runStarted, THREAD_ID } from "./conversation.mjs";

export const AGENT_ID = "langgraph:chat";

/**
 * @param {import("./conversation.mjs").Workload} workload
 * @returns {import("./measure-stream.mjs").Open}
 */
export function prepareOurs(workload) {
  const { prelude, frames } = framesOf(workload);
  const last = endEvents.map((event) => textOf(event));

  return async () => {
    const page = await openPage();
    page.tell(prelude);
    page.tell([frames[0]]);
    const before = page.told();
    return {
      stream() {
        for (let index = 1; index < frames.length; index++) page.tell([frames[index]]);
      },
      close() {
        const { view } = page.thread.getSnapshot();
        const result = {
          text: messageById(view, answerStart.messageId)?.content,
          state: view.state,
          notified: page.told() - before,
        };
        page.tell(last);
        page.close();
        return result;
      },
    };
  };
}

/**
 * What a stream begins with, and what is measured.
 *
 * @param {import("./conversation.mjs").Workload} workload
 */
export function framesOf({ messages, state, events }) {
  const told = {
    ...runStarted,
    metadata: { throughline: { runId: "01a2b3c4-0000-7000-8000-000000000000", attempt: 0 } },
  };
  const prelude = [
    textOf(told),
    textOf({ type: "STATE_SNAPSHOT", snapshot: state }),
    textOf({ type: "MESSAGES_SNAPSHOT", messages: priorMessages(messages) }),
    textOf(answerStart, cursorAt(0)),
  ];
  return { prelude, frames: events.map((event, index) => textOf(event, cursorAt(index + 1))) };
}

function textOf(event, id) {
  return { id, data: JSON.stringify(event) };
}

async function openPage() {
  let sink;
  let told = 0;
  let due = [];
  const client = createAgentClient({
    url: "http://bench.invalid",
    service: serviceOf((opened) => {
      sink = opened;
    }),
    schedule(callback) {
      due.push(callback);
      return () => {};
    },
  });
  const thread = client.thread(AGENT_ID, THREAD_ID);
  thread.subscribe(() => {
    thread.getSnapshot();
    told++;
  });
  thread.open();
  // The stream is opened once for all that is opened in a turn.
  await Promise.resolve();
  sink.opened();
  return {
    thread,
    told: () => told,
    /** As if each read of the socket brought one frame, and each was drawn. */
    tell(frames) {
      sink.heard();
      sink.events(0, frames);
      const now = due;
      due = [];
      for (const draw of now) draw();
    },
    close: () => client.close(),
  };
}

/** @param {(sink: object) => void} onOpen */
export function serviceOf(onOpen) {
  return {
    agents: async () => [],
    follow(_threads, signal, sink) {
      onOpen(sink);
      return new Promise((resolve) => {
        signal.addEventListener("abort", () => resolve({ kind: "ended" }));
      });
    },
    send: async () => ({ kind: "unreachable" }),
    stop: async () => false,
    poll: async () => undefined,
    renew: async () => false,
  };
}

/** As long as the service's are, and alike up to their last letters, as theirs are. */
function cursorAt(index) {
  return `0b9d4f7c52aa4c1e9d6f3a8e7b21c640.${1_000 + index}.0.1sc`;
}
