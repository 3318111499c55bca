import type { CallStatus, ErrorClass } from "@throughline/ai-core";
import type { CallSite, DraftBuffer } from "../envelope-draft.js";
import type { SubgraphStates } from "./subgraph-result.js";

/** A graph that runs inside a task. */
export interface Subgraph {
  /** The task's own call, unless several tools of one task run subgraphs in parallel: then each has a call of its own. */
  readonly site: CallSite;
  readonly name: string;
  readonly isSubagent: boolean;
  readonly toolCallId: string | undefined;
  /** Ids of the messages in its input. */
  readonly given: ReadonlySet<string>;
  open: boolean;
}

/** One execution of a node. Its path is its identity: LangGraph derives task ids, so a retry or replay has the same path. */
export interface Task {
  readonly path: string;
  readonly node: string;
  readonly parent: Task | undefined;
  /** Which of the subgraphs that run inside `parent` it belongs to. */
  readonly lane: string;
  readonly site: CallSite;
  /** The subagent this task works for: the call of the subgraph that a tool runs. */
  readonly subagentId: string | undefined;
  readonly subgraphs: Map<string, Subgraph>;
  open: boolean;
  modelCalls: number;
  toolCalls: number;
}

/** A running tool call. */
export interface RunningTool {
  readonly id: string;
  readonly name: string;
  readonly subagentName: string | undefined;
  /** Whether its task has run no other. */
  readonly isAlone: boolean;
}

export interface TaskTreeOptions {
  readonly sink: DraftBuffer;
  readonly root: CallSite;
  /** Subgraphs that an earlier run left suspended, and their last checkpoints: starting one again is a resumption. */
  readonly suspended: ReadonlyMap<string, string | null>;
  /** The tool call that runs a new subgraph of a task, if one does: such a subgraph is a subagent. */
  readonly runningTool: (
    task: Task,
    about: { readonly taken: readonly (string | undefined)[]; readonly input: unknown },
  ) => RunningTool | undefined;
  /** Called before a task closes, so that open items inside it close first. */
  readonly beforeEnd: (task: Task, status: CallStatus) => void;
  readonly states: SubgraphStates;
}

/** The task that threw, and the class of its error. */
export interface FailedTask {
  readonly task: Task;
  readonly class: ErrorClass;
}

export interface TaskTree {
  /**
   * The task of a namespace path such as `writer:<id>|draft:<id>`; started, with all above it, when it is new. `""` is the run.
   * `input`: the task's input, where the upstream sends it.
   */
  at(path: string, step?: number | null, input?: unknown): Task | undefined;
  /** Records the state of a subgraph. The first one, which precedes its tasks, is its input. */
  state(path: string, values: unknown): void;
  /** The subgraph of a namespace path, or else its task. */
  siteAt(path: string): CallSite | undefined;
  end(task: Task, status: CallStatus, output?: unknown): void;
  /** Marks a task that waits for a person: open items inside it end now, and its step once the run has emitted the interrupts. */
  ask(task: Task): void;
  /** Marks a task that returned without result: it wrote nothing, or threw, or was aborted. Later chunks decide. */
  markUncertain(task: Task): void;
  /** Ends the subgraph that this tool call ran. */
  endSubgraph(task: Task, toolCallId: string, status: CallStatus, output?: unknown): void;
  /** Ends tasks still open directly under a namespace (of one node, if named): a new superstep has begun there. */
  endLevel(parentPath: string, node?: string): void;
  /** The innermost task that threw. `taskId`: LangGraph's id of the outermost one, where the error names it. */
  thrower(taskId: string | undefined): Task | undefined;
  /** With `failed`, that task and those around it end as `error`, and others as `cancelled`. */
  endAll(status: CallStatus, failed?: FailedTask): void;
}

export function createTaskTree(options: TaskTreeOptions): TaskTree {
  const { sink, root } = options;
  const tasks = new Map<string, Task>();
  const paths = new Map<string, TaskPath>();
  const open = new Set<Task>();
  /** Inputs, by the namespace path of a subgraph that has begun no task yet. */
  const given = new Map<string, unknown>();
  /** Uncertain tasks in the order of their return: the task that threw first precedes those it aborts. */
  const uncertain = new Set<Task>();
  /** Interrupted tasks, open until the run ends. */
  const asking = new Set<Task>();
  /** Tasks that the upstream itself reported as failed. */
  const failedTasks: Task[] = [];

  /** Parses a path, with a cache: every token repeats it. */
  function pathOf(raw: string): TaskPath {
    const known = paths.get(raw);
    if (known) return known;
    const read = readPath(raw);
    paths.set(raw, read);
    return read;
  }

  function at(rawPath: string, step: number | null = null, input?: unknown): Task | undefined {
    const hit = tasks.get(rawPath);
    if (hit) return hit;
    const { path, parent: above, lane, node } = pathOf(rawPath);
    if (path === "") return undefined;
    const known = tasks.get(path) ?? rootTaskOf(path);
    if (known) {
      tasks.set(rawPath, known);
      return known;
    }
    const parent = above === "" ? undefined : at(above);
    const within = parent && subgraphOf(parent, lane, given.get(laneOf(parent.path, lane)) ?? input);
    const task: Task = {
      path,
      node,
      parent,
      lane,
      site: {
        callId: path,
        parentId: within?.site.callId ?? parent?.path ?? root.callId,
        agent: within?.name ?? parent?.node ?? root.agent,
      },
      subagentId: within?.isSubagent ? within.site.callId : parent?.subagentId,
      subgraphs: new Map(),
      open: true,
      modelCalls: 0,
      toolCalls: 0,
    };
    tasks.set(path, task);
    open.add(task);
    sink.emit("step_start", task.site, { node, step });
    return task;
  }

  /**
   * The Functional API reports a task of an entrypoint at the root, and its inner tasks below the entrypoint's own task:
   * `write:<id>` and `flow:<id>|write:<id>` are one. Task ids are unique, so a path that ends in a known root task is that task.
   */
  function rootTaskOf(path: string): Task | undefined {
    const last = path.lastIndexOf("|");
    const task = last === -1 ? undefined : tasks.get(path.slice(last + 1));
    return task?.parent === undefined ? task : undefined;
  }

  /**
   * The subgraph of a lane: LangGraph counts the subgraphs that one task runs. Run by several tools at once, each is a subagent
   * of its own; else they run one after the other, and the task's own call represents all of them.
   */
  function subgraphOf(task: Task, lane: string, input: unknown): Subgraph | undefined {
    const known = task.subgraphs.get(lane);
    if (known || !task.open) return known;
    const others = [...task.subgraphs.values()];
    const tool = options.runningTool(task, { taken: others.map((other) => other.toolCallId), input });
    const subgraph =
      others.find((other) => other.toolCallId === tool?.id) ?? startSubgraph(task, tool, input);
    task.subgraphs.set(lane, subgraph);
    given.delete(laneOf(task.path, lane));
    return subgraph;
  }

  function startSubgraph(task: Task, tool: RunningTool | undefined, input: unknown): Subgraph {
    const isOwn = tool !== undefined && (!tool.isAlone || task.subgraphs.size > 0);
    const site: CallSite = isOwn
      ? { callId: `${task.path}|${tool.id}`, parentId: task.path, agent: task.site.agent }
      : task.site;
    const name = tool?.subagentName ?? (isOwn ? tool.name : task.node);
    const subgraph: Subgraph = {
      site,
      name,
      isSubagent: tool !== undefined || task.node === "tools",
      toolCallId: tool?.id,
      given: options.states.messageIds(name, input),
      open: true,
    };
    sink.emit("tool_start", site, {
      tool_name: subgraph.name,
      kind: "subgraph",
      node: task.node,
      ...(input !== undefined && { input: options.states.input(name, input) }),
      ...(tool && { tool_call_id: tool.id }),
      ...(subgraph.isSubagent && { subagent_id: site.callId }),
    });
    const checkpoint = options.suspended.get(site.callId);
    if (checkpoint !== undefined)
      sink.emit("subgraph_resume", site, { checkpoint_id: checkpoint, node: task.node });
    return subgraph;
  }

  function closeSubgraph(subgraph: Subgraph, status: CallStatus, output: unknown): void {
    if (!subgraph.open) return;
    subgraph.open = false;
    sink.emit("tool_end", subgraph.site, {
      tool_name: subgraph.name,
      kind: "subgraph",
      result: options.states.result(subgraph.name, output, subgraph.given),
      status,
    });
  }

  /** Ends a task. `statusOf`: the status of an inner task that is still open. */
  function end(
    task: Task,
    reported: CallStatus,
    output?: unknown,
    {
      statusOf = () => reported,
      failed,
    }: { statusOf?: (task: Task) => CallStatus; failed?: FailedTask } = {},
  ): void {
    if (!task.open) return;
    const status = asking.has(task) ? "interrupted" : reported;
    const below = `${task.path}|`;
    for (const other of open)
      if (other.path.startsWith(below))
        end(other, statusOf(other), undefined, { statusOf, ...(failed && { failed }) });
    options.beforeEnd(task, status);
    task.open = false;
    open.delete(task);
    uncertain.delete(task);
    asking.delete(task);
    for (const subgraph of task.subgraphs.values()) closeSubgraph(subgraph, status, output);
    sink.emit("step_end", task.site, {
      node: task.node,
      status,
      ...(failed?.task === task && { class: failed.class }),
    });
  }

  return {
    at,
    state(rawPath, values) {
      const { path, within } = pathOf(rawPath);
      const key = laneOf(path, within);
      if (path !== "" && !given.has(key) && !tasks.get(path)?.subgraphs.has(within)) given.set(key, values);
    },
    siteAt(path) {
      const task = at(path);
      return task?.subgraphs.get(pathOf(path).within)?.site ?? task?.site;
    },
    end(task, status, output) {
      if (task.open && status === "error") failedTasks.push(task);
      end(task, status, output);
    },
    ask(task) {
      if (!task.open) return;
      options.beforeEnd(task, "interrupted");
      asking.add(task);
    },
    markUncertain(task) {
      if (task.open) uncertain.add(task);
    },
    endSubgraph(task, toolCallId, status, output) {
      for (const [lane, subgraph] of task.subgraphs) {
        if (subgraph.toolCallId !== toolCallId || subgraph.site === task.site) continue;
        for (const other of open) if (other.parent === task && other.lane === lane) end(other, status);
        closeSubgraph(subgraph, status, output);
      }
    },
    endLevel(parentPath, node) {
      const { path, within } = pathOf(parentPath);
      for (const task of open) {
        const isThere = (task.parent?.path ?? "") === path && task.lane === within;
        if (isThere && !asking.has(task) && (node === undefined || task.node === node)) end(task, "ok");
      }
    },
    thrower(taskId) {
      const outer =
        taskId === undefined ? undefined : [...open].find(({ path }) => path.endsWith(`:${taskId}`));
      const isInside = ({ path }: Task) =>
        outer === undefined || path === outer.path || path.startsWith(`${outer.path}|`);
      const known = [...failedTasks, ...uncertain].find(isInside) ?? outer;
      // Where the failed task is unknown, the only open one is the one that threw.
      const working = [...open].filter((task) => !asking.has(task));
      const innermost = working.filter((task) => !working.some(({ parent }) => parent === task));
      return known ?? (innermost.length === 1 ? innermost[0] : undefined);
    },
    endAll(status, failed) {
      const failing = new Set<Task>();
      for (let task = failed?.task; task; task = task.parent) failing.add(task);
      const statusOf = (task: Task): CallStatus => {
        if (failing.has(task)) return "error";
        if (uncertain.has(task) && (status === "ok" || status === "interrupted")) return "ok";
        return failed ? "cancelled" : status;
      };
      const how = { statusOf, ...(failed && { failed }) };
      for (const task of open) if (!task.parent) end(task, statusOf(task), undefined, how);
      for (const task of open) end(task, statusOf(task), undefined, how);
    },
  };
}

function laneOf(path: string, lane: string): string {
  return `${path}|${lane}`;
}
/** A counter of the subgraphs that one task runs, such as `1` in `worker:<id>|1`; it is no task. */
const COUNTER_SEGMENT = /^\d+$/;

interface TaskPath {
  /** Without counters: a task's identity. `""` is the run. */
  readonly path: string;
  readonly node: string;
  /** The namespace path of the task around it, counters included. */
  readonly parent: string;
  /** Counts the subgraph inside `parent` that the task belongs to; `""` is the first. */
  readonly lane: string;
  /** Counts the subgraph inside the task that the path itself names. */
  readonly within: string;
}

/** Parses a namespace path such as `tools:<id>|1|think:<id>`. */
function readPath(raw: string): TaskPath {
  const segments = raw.split("|").filter((segment) => segment !== "");
  const within = takeCounters(segments);
  const last = segments.pop() ?? "";
  const lane = takeCounters(segments);
  const colon = last.lastIndexOf(":");
  return {
    path: [...segments.filter(isTask), last].join("|"),
    node: colon > 0 ? last.slice(0, colon) : last,
    parent: segments.join("|"),
    lane,
    within,
  };
}

const isTask = (segment: string) => !COUNTER_SEGMENT.test(segment);

function takeCounters(segments: string[]): string {
  let counters = "";
  while (segments.length > 0 && !isTask(segments.at(-1) ?? "")) {
    const counter = segments.pop() ?? "";
    counters = counters === "" ? counter : `${counter}|${counters}`;
  }
  return counters;
}
