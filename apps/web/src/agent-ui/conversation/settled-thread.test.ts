import {
  type CallView,
  emptyThreadView,
  type Store,
  type ThreadSnapshot,
  type ThreadView,
} from "@throughline/agent-client";
import { expect, it, vi } from "vitest";
import { stableThread } from "./stable-thread";

/** A thread that shows what it is told to. */
function thread() {
  const listeners = new Set<() => void>();
  let snapshot: ThreadSnapshot = {
    view: emptyThreadView,
    connection: { kind: "live" },
    pending: { sync: false, running: false, preempting: false, queue: [] },
  };
  const store: Store<ThreadSnapshot> = {
    getSnapshot: () => snapshot,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  return {
    store,
    listeners,
    show(change: Partial<ThreadView>) {
      snapshot = { ...snapshot, view: { ...snapshot.view, ...change } };
      for (const listener of listeners) listener();
    },
  };
}

function speaking(content: string): Partial<ThreadView> {
  return {
    open: [{ message: { id: "m", role: "assistant", content }, isSpeaking: true, openCalls: [] }],
  };
}

it("says nothing of a text that grows, however many listen", () => {
  const { store, listeners, show } = thread();
  show(speaking("la"));
  const stable = stableThread(store);
  const heard = vi.fn();
  for (let count = 0; count < 3; count += 1) stable.subscribe(() => heard());
  const before = stable.getSnapshot();
  show(speaking("la la"));
  expect(heard).not.toHaveBeenCalled();
  expect(stable.getSnapshot()).toBe(before);
  expect(listeners.size).toBe(1);
});

it("says who begins to speak, and who ends", () => {
  const { store, show } = thread();
  const stable = stableThread(store);
  const heard = vi.fn();
  stable.subscribe(heard);
  show(speaking("la"));
  expect(stable.getSnapshot().speaking).toEqual(["m"]);
  show({ open: [] });
  expect(stable.getSnapshot().speaking).toEqual([]);
  expect(heard).toHaveBeenCalledTimes(2);
});

it.each<[string, Partial<ThreadView>]>([
  ["a message", { messages: [{ id: "a", role: "user", content: "Hello" }] }],
  ["a call", { calls: [] }],
  ["a run", { run: { runId: "r", serviceRunId: "r", attempt: 0, status: "running", error: null } }],
])("tells of %s that came", (_, change) => {
  const { store, show } = thread();
  const stable = stableThread(store);
  const heard = vi.fn();
  stable.subscribe(heard);
  show(change);
  expect(heard).toHaveBeenCalledTimes(1);
  expect(stable.getSnapshot()).toMatchObject(change);
});

it("leaves the thread with the last who listens, and is right when somebody comes again", () => {
  const { store, listeners, show } = thread();
  const stable = stableThread(store);
  stable.subscribe(() => {})();
  expect(listeners.size).toBe(0);
  show(speaking("unheard"));
  const heard = vi.fn();
  stable.subscribe(heard);
  expect(stable.getSnapshot().speaking).toEqual(["m"]);
  show(speaking("unheard, heard"));
  expect(heard).not.toHaveBeenCalled();
});

const RUN = { runId: "r", serviceRunId: "r", attempt: 0, error: null } as const;
const said = (id: string) => ({ id, role: "assistant", content: id }) as const;
const call = (runId: string, more: Partial<CallView> = {}): CallView => ({
  runId,
  callId: runId,
  parentId: null,
  kind: "run",
  name: "langgraph:poet",
  attempt: 0,
  status: "ok",
  startedAt: 100,
  endedAt: 101,
  ...more,
});
const [A, B, C] = [said("a"), said("b"), said("c")];
const [R1, R2] = [call("r1"), call("r2")];
const TOOL = call("r2", { kind: "tool", callId: "t1", parentId: "r2" });

it.each<[string, Partial<ThreadView>, readonly string[]]>([
  ["a message that begins to grow", speaking("la"), ["b", "m"]],
  ["a message that comes", { messages: [A, B, C] }, ["b", "c"]],
  ["a message that changed", { messages: [{ ...A, content: "else" }, B] }, ["a", "b"]],
  ["a run that ends", { run: { ...RUN, status: "success" } }, ["b"]],
  ["a call of a run", { calls: [R1, R2, TOOL] }, ["b", "r2", "t1"]],
  ["a tool's result", { messages: [A, B, { ...C, role: "tool", toolCallId: "t1" }] }, ["b", "c", "t1"]],
])("tells of %s only those that are about it, or about the newest message", (_, change, concerned) => {
  const { store, show } = thread();
  show({ messages: [A, B], calls: [R1, R2], run: { ...RUN, status: "running" } });
  const stable = stableThread(store);
  const heard: string[] = [];
  for (const id of ["a", "b", "c", "m", "r1", "r2", "t1"]) stable.subscribe(() => heard.push(id), id);
  show(change);
  expect(heard).toEqual(concerned);
});

it("tells of a tool's result that was taken back", () => {
  const { store, show } = thread();
  show({ messages: [A, { ...B, role: "tool", toolCallId: "t1" }, C] });
  const stable = stableThread(store);
  const heard = vi.fn();
  stable.subscribe(heard, "t1");
  show({ messages: [A, C] });
  expect(heard).toHaveBeenCalledTimes(1);
});
