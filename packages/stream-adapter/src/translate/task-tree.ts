import type { CallStatus, JsonObject } from "@throughline/ai-core";
import type { CallSite, DraftSink } from "./draft.js";

/** One execution of a node. Its path is its identity: LangGraph derives task ids, so a retry or replay has the same path. */
export interface Task {
  readonly path: string;
  readonly node: string;
  readonly parent: Task | undefined;
  readonly site: CallSite;
  /** The subagent this task works for: the path of the tool task whose subgraph it belongs to. */
  readonly subagentId: string | undefined;
  open: boolean;
  subgraph: boolean;
  subagent: boolean;
  subgraphName: string;
  modelCalls: number;
  toolCalls: number;
}

export interface TaskTreeOptions {
  readonly sink: DraftSink;
  readonly root: CallSite;
  /** Subgraphs an earlier run left waiting: starting one again is a resumption. */
  readonly suspended: ReadonlySet<string>;
  /** The tool call a task is running at the moment, if any: what makes its subgraph a subagent. */
  readonly runningTool: (
    task: Task,
  ) => { readonly id: string; readonly subagentName: string | undefined } | undefined;
  /** Called before a task closes, so that what is open inside it closes first. */
  readonly beforeEnd: (task: Task, status: CallStatus) => void;
  readonly subgraphResult: (output: unknown) => JsonObject;
}

export interface TaskTree {
  /** The task of a namespace path such as `writer:<id>|draft:<id>`; started, with all above it, when it is new. `""` is the run. */
  at(path: string, step?: number | null): Task | undefined;
  end(task: Task, status: CallStatus, output?: unknown): void;
  /** Ends tasks still open directly under a namespace (of one node, if named): a new superstep has begun there. */
  endLevel(parentPath: string, node?: string): void;
  endAll(status: CallStatus): void;
}

/** `1` in `worker:<id>|1` counts calls of one subgraph inside one node; it is no task. */
const COUNTER_SEGMENT = /^\d+$/;

export function createTaskTree(options: TaskTreeOptions): TaskTree {
  const { sink, root } = options;
  const tasks = new Map<string, Task>();
  const aliases = new Map<string, string>();
  const open = new Set<Task>();

  function canonical(path: string): string {
    let known = aliases.get(path);
    if (known === undefined) {
      known = path
        .split("|")
        .filter((segment) => segment !== "" && !COUNTER_SEGMENT.test(segment))
        .join("|");
      aliases.set(path, known);
    }
    return known;
  }

  function at(rawPath: string, step: number | null = null): Task | undefined {
    const hit = tasks.get(rawPath);
    if (hit) return hit;
    const path = canonical(rawPath);
    if (path === "") return undefined;
    const known = tasks.get(path);
    if (known) return known;
    const cut = path.lastIndexOf("|");
    const parent = cut === -1 ? undefined : at(path.slice(0, cut));
    if (parent) startSubgraph(parent);
    const segment = path.slice(cut + 1);
    const colon = segment.lastIndexOf(":");
    const node = colon > 0 ? segment.slice(0, colon) : segment;
    const task: Task = {
      path,
      node,
      parent,
      site: {
        callId: path,
        parentId: parent ? parent.path : root.callId,
        agent: parent ? parent.subgraphName : root.agent,
      },
      subagentId: parent?.subagent ? parent.path : parent?.subagentId,
      open: true,
      subgraph: false,
      subagent: false,
      subgraphName: node,
      modelCalls: 0,
      toolCalls: 0,
    };
    tasks.set(path, task);
    open.add(task);
    sink.emit("step_start", task.site, { node, step });
    return task;
  }

  function startSubgraph(task: Task): void {
    if (task.subgraph || !task.open) return;
    task.subgraph = true;
    const tool = options.runningTool(task);
    task.subagent = tool !== undefined || task.node === "tools";
    task.subgraphName = tool?.subagentName ?? task.node;
    sink.emit("tool_start", task.site, {
      tool_name: task.subgraphName,
      kind: "subgraph",
      node: task.node,
      ...(tool && { tool_call_id: tool.id }),
      ...(task.subagent && { subagent_id: task.path }),
    });
    if (options.suspended.has(task.path)) {
      sink.emit("subgraph_resume", task.site, { checkpoint_id: null, node: task.node });
    }
  }

  function end(task: Task, status: CallStatus, output?: unknown): void {
    if (!task.open) return;
    const below = `${task.path}|`;
    for (const other of open) if (other.path.startsWith(below)) end(other, status);
    options.beforeEnd(task, status);
    task.open = false;
    open.delete(task);
    if (task.subgraph) {
      sink.emit("tool_end", task.site, {
        tool_name: task.subgraphName,
        kind: "subgraph",
        result: options.subgraphResult(output),
        status,
      });
    }
    sink.emit("step_end", task.site, { node: task.node, status });
  }

  return {
    at,
    end,
    endLevel(parentPath, node) {
      const parent = canonical(parentPath);
      for (const task of open) {
        if ((task.parent?.path ?? "") === parent && (node === undefined || task.node === node))
          end(task, "ok");
      }
    },
    endAll(status) {
      for (const task of open) if (!task.parent) end(task, status);
      for (const task of open) end(task, status);
    },
  };
}
