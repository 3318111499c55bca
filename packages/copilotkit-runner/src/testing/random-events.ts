import fc from "fast-check";
import { type AgUiEvent, endsOf, trackOpen } from "../events.js";

const KINDS = [
  "text",
  "more text",
  "reasoning",
  "tool",
  "args",
  "end",
  "result",
  "snapshot",
  "delta",
  "step",
  "activity",
  "activity delta",
  "custom",
  "messages",
] as const;

const action = fc.record({
  kind: fc.constantFrom(...KINDS),
  n: fc.nat({ max: 3 }),
  words: fc.string({ minLength: 1, maxLength: 4 }),
  tagged: fc.boolean(),
});
type Action = typeof action extends fc.Arbitrary<infer A> ? A : never;

/** One or more complete runs of an agent, as a client accepts them. */
export const randomRuns: fc.Arbitrary<AgUiEvent[]> = fc
  .array(fc.array(action, { maxLength: 25 }), { minLength: 1, maxLength: 3 })
  .map((runs) => runs.flatMap((actions, index) => eventsOfRun(`run-${index}`, actions)));

function eventsOfRun(runId: string, actions: readonly Action[]): AgUiEvent[] {
  const said = { id: `${runId}-said`, role: "user", content: `hello in ${runId}` };
  const input = {
    threadId: "t",
    runId,
    state: {},
    messages: [said],
    tools: [],
    context: [],
    forwardedProps: {},
  };
  const events: AgUiEvent[] = [
    { type: "RUN_STARTED", threadId: "t", runId, input },
    { type: "STATE_SNAPSHOT", snapshot: { counts: {} } },
  ];
  let open: readonly AgUiEvent[] = [];
  const tell = (event: AgUiEvent) => {
    events.push(event);
    open = trackOpen(open, event);
  };
  for (const step of actions) for (const event of eventsOfAction(runId, step, open)) tell(event);
  for (const event of endsOf(open)) tell(event);
  tell({ type: "RUN_FINISHED", threadId: "t", runId });
  return events;
}

function eventsOfAction(
  runId: string,
  { kind, n, words, tagged }: Action,
  open: readonly AgUiEvent[],
): AgUiEvent[] {
  const isOpen = (type: string, key: string, id: string) =>
    open.some((start) => start.type === type && start[key] === id);
  const metadata = tagged ? { metadata: { [`tag-${n}`]: words } } : {};
  const messageId = `${runId}-text-${n}`;
  const thoughtId = `${runId}-thought-${n}`;
  const toolCallId = `${runId}-call-${n}`;
  const activity = { messageId: `activity-${n}`, activityType: "plan" };
  const stepName = `step-${n}`;
  switch (kind) {
    case "text":
      return isOpen("TEXT_MESSAGE_START", "messageId", messageId)
        ? []
        : [{ type: "TEXT_MESSAGE_START", messageId, role: "assistant", ...metadata }];
    case "more text":
      return isOpen("TEXT_MESSAGE_START", "messageId", messageId)
        ? [{ type: "TEXT_MESSAGE_CONTENT", messageId, delta: words, ...metadata }]
        : [];
    case "reasoning":
      return isOpen("REASONING_MESSAGE_START", "messageId", thoughtId)
        ? [{ type: "REASONING_MESSAGE_CONTENT", messageId: thoughtId, delta: words }]
        : [
            ...(isOpen("REASONING_START", "messageId", `${thoughtId}-span`)
              ? []
              : [{ type: "REASONING_START", messageId: `${thoughtId}-span` }]),
            { type: "REASONING_MESSAGE_START", messageId: thoughtId, role: "reasoning" },
          ];
    case "tool":
      return isOpen("TOOL_CALL_START", "toolCallId", toolCallId)
        ? []
        : [
            {
              type: "TOOL_CALL_START",
              toolCallId,
              toolCallName: "search",
              ...(tagged && { parentMessageId: messageId }),
            },
          ];
    case "args":
      return isOpen("TOOL_CALL_START", "toolCallId", toolCallId)
        ? [{ type: "TOOL_CALL_ARGS", toolCallId, delta: words, ...metadata }]
        : [];
    case "end":
      return endsOf(open.slice(-1));
    case "result":
      // Two of one call: the second stands behind the first.
      return ["", "-again"].map((again) => ({
        type: "TOOL_CALL_RESULT",
        messageId: `${toolCallId}-${words}${again}`,
        toolCallId,
        content: words,
        role: "tool",
      }));
    case "snapshot":
      return [{ type: "STATE_SNAPSHOT", snapshot: { counts: { [words]: n } } }];
    case "delta":
      return [{ type: "STATE_DELTA", delta: [{ op: "add", path: "/counts/n", value: n }] }];
    case "step":
      return isOpen("STEP_STARTED", "stepName", stepName) ? [] : [{ type: "STEP_STARTED", stepName }];
    case "activity":
      return [{ type: "ACTIVITY_SNAPSHOT", ...activity, content: { at: n }, replace: tagged }];
    case "activity delta":
      return [{ type: "ACTIVITY_DELTA", ...activity, patch: [{ op: "add", path: "/more", value: words }] }];
    case "custom":
      return [{ type: "CUSTOM", name: "note", value: words }];
    case "messages":
      // Only between messages: a client that is told of fewer loses what streams.
      return open.length > 0
        ? []
        : [
            {
              type: "MESSAGES_SNAPSHOT",
              messages: [{ id: `${runId}-whole`, role: "assistant", content: words }],
            },
          ];
  }
}
