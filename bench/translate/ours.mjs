// Our side, as production has it: the driver translates, folds what it translated and hands it to the log; the instance that
// serves a watcher folds it again and makes frames of it. Time is the recording's own.
import { createServerEventReader } from "@throughline/coerce";
import { applyEntry, createAgUiEncoder, emptyThreadProjection } from "@throughline/reading";
import { createStreamAdapter } from "@throughline/stream-adapter";
import { encodedLength } from "./sse-length.mjs";

const READ_BY_DIALECT = {
  events: new Set(["metadata", "events", "values", "updates"]),
  modes: new Set(["metadata", "messages", "updates", "values", "custom", "tasks", "tools", "checkpoints"]),
};

/**
 * @param {import("./workload.mjs").Workload} workload
 * @param {{ dialect: "events" | "modes", sampling: boolean, onEvent?: (event: object) => void }} options
 */
export function prepareOurs(workload, { dialect, sampling, onEvent }) {
  const before = { ...emptyThreadProjection, state: workload.stateBefore };
  const lines = workload.lines.filter(({ event }) => READ_BY_DIALECT[dialect].has(event.split("|")[0]));
  const input = workload.input.map(({ id, content }) => ({ id, role: "user", content }));
  const final = finalOf(workload);
  return () => {
    const translator = createStreamAdapter({
      context: { ...workload.ids, traceId: "bench", attempt: 0, agent: "langgraph:chat" },
      dialect,
      profile: "user",
      fold: before,
      stateKeys: Object.keys(workload.final.values),
      ...(sampling ? {} : { sampling: false }),
    });
    const face = createAgUiEncoder({ threadName: "bench", line: "0.0", interrupts: "legacy" });
    let recorded = before;
    let fold = before;
    let seq = 0;
    let events = 0;
    let bytes = 0;
    const send = (envelopes) => {
      for (const envelope of envelopes) {
        const entry = { epoch: "bench", seq: ++seq, envelope };
        recorded = applyEntry(recorded, entry);
        for (const frame of face.frames(fold, entry)) {
          events++;
          bytes += encodedLength(frame.event, frame.id);
          onEvent?.(frame.event);
        }
        fold = applyEntry(fold, entry);
      }
    };
    send(
      translator.start(
        {
          graph_id: "langgraph:chat",
          input: { messages: input },
          answers: [],
          started_by: { kind: "client" },
        },
        0,
      ),
    );
    const readEvent = createServerEventReader();
    let now = 0;
    for (const { t, event, data } of lines) {
      for (let due = translator.nextFlushAt(); due !== undefined && due <= t; due = translator.nextFlushAt())
        send(translator.flush(due));
      now = t;
      send(translator.push(readEvent(event, data), now));
    }
    send(translator.finish(final, recorded, now));
    return { events, bytes };
  };
}

function finalOf({ final, ids }) {
  const { messages, ...state } = final.values;
  return {
    ok: true,
    status: "success",
    upstreamRunId: ids.runId,
    checkpointId: "bench-checkpoint",
    state,
    messages: messages.map(toMessage),
    interrupts: [],
  };
}

const ROLE_OF_TYPE = { human: "user", ai: "assistant", tool: "tool" };

function toMessage({ id, type, content, tool_call_chunks: calls = [], tool_call_id: answered, status }) {
  return {
    id,
    role: ROLE_OF_TYPE[type],
    content,
    ...(calls.length === 0
      ? {}
      : { tool_calls: calls.map((call) => ({ id: call.id, name: call.name, args: call.args })) }),
    ...(answered === undefined ? {} : { tool_call_id: answered, status }),
  };
}
