import {
  catchError,
  defaultIfEmpty,
  defer,
  filter,
  map,
  mergeMap,
  Observable,
  of,
  take,
  timeout,
} from "rxjs";
import { isObject, type JsonObject } from "./legacy-value.js";
import { interruptsOf, type LegacyEventOptions, toLegacyEvents } from "./to-legacy-events.js";
import { isUnnamedResume, toResume } from "./to-resume.js";

/** The methods that the adapter needs of an AG-UI agent. Each version has its own types of input and event. */
export interface WrappableAgent {
  run(input: never): unknown;
  clone(): unknown;
}

export interface ClientCompatibilityOptions extends Partial<LegacyEventOptions> {
  /**
   * The handling of a response that names no interrupt, on a thread whose open interrupts are not known here. `fail`, the
   * default: the thread is re-read by `connect()`, and if that finds no interrupt the run ends with RUN_ERROR. `forward`: the
   * input is passed on unchanged, for agents that read `command.resume` themselves.
   */
  readonly unnamed?: "fail" | "forward";
}

type Settings = LegacyEventOptions & Required<Pick<ClientCompatibilityOptions, "unnamed">>;

/**
 * Wraps an agent for clients that know `CUSTOM on_interrupt` and respond with `forwardedProps.command.resume`. All else passes
 * unchanged and in order. The given agent is not modified; clones of the result are wrapped too, since runtimes clone.
 */
export function withClientCompatibility<Agent extends WrappableAgent>(
  agent: Agent,
  options: ClientCompatibilityOptions = {},
): Agent {
  const { value = "text", outcome = "omit", unnamed = "fail" } = options;
  // A clone is of the agent's own class, which the type of `clone` can't express.
  return wrap(agent.clone() as Agent, { value, outcome, unnamed }, new Map());
}

/** Ids of the open interrupts by thread, for clients whose responses name none. */
type Pending = Map<string, readonly string[]>;
const MAX_THREADS = 1_000;

type Method = (this: unknown, input: unknown) => Observable<unknown>;

function wrap<Agent extends object>(agent: Agent, options: Settings, pending: Pending): Agent {
  const own: object = Object.getPrototypeOf(agent);
  // Between the agent and its class, so that its other methods, private fields and `instanceof` are unchanged.
  const between: object = Object.create(own);

  function translate(method: Method, agentItself: unknown, input: unknown): Observable<unknown> {
    const threadId = isObject(input) && typeof input.threadId === "string" ? input.threadId : "";
    const converted = isObject(input) ? toResume(input, pending.get(threadId) ?? []) : input;
    // An unchanged input with a response in it names no interrupt that is known here.
    const isUnnamed = converted === input && isObject(input) && isUnnamedResume(input);
    const source =
      isUnnamed && options.unnamed === "fail"
        ? rereadThenRun(method, agentItself, input, threadId)
        : method.call(agentItself, converted);
    return new Observable((subscriber) =>
      source.subscribe({
        next(event) {
          if (!isObject(event)) return subscriber.next(event);
          recordPending(pending, threadId, event);
          for (const legacy of toLegacyEvents(event, options)) subscriber.next(legacy);
        },
        error: (error: unknown) => subscriber.error(error),
        complete: () => subscriber.complete(),
      }),
    );
  }

  /** Reads the thread's open interrupts from the agent, which outlives the memory of this process, and then runs. */
  function rereadThenRun(method: Method, agentItself: unknown, input: JsonObject, threadId: string) {
    return new Observable<unknown>((subscriber) => {
      const connect: unknown = Reflect.get(own, "connect");
      const { forwardedProps: _answer, ...viewing } = input;
      const reread = isMethod(connect)
        ? readOpenInterrupts(() => connect.call(agentItself, { ...viewing, forwardedProps: {} }))
        : of<readonly string[]>([]);
      const running = reread
        .pipe(
          mergeMap((ids) =>
            ids.length > 0
              ? method.call(agentItself, toResume(input, ids))
              : of({ type: "RUN_ERROR", code: "INTERRUPT_UNKNOWN", message: unknownInterrupt(threadId) }),
          ),
        )
        .subscribe(subscriber);
      return () => running.unsubscribe();
    });
  }

  for (const name of ["run", "connect"]) {
    const method: unknown = Reflect.get(own, name);
    if (!isMethod(method)) continue;
    define(between, name, function (input) {
      return translate(method, this, input);
    });
  }
  const clone: unknown = Reflect.get(own, "clone");
  define(between, "clone", function () {
    const copy: unknown = isMethod(clone) ? clone.call(this, undefined) : this;
    // Some classes clone by prototype, others by `new`.
    return typeof copy !== "object" || copy === null || Object.getPrototypeOf(copy) === between
      ? copy
      : wrap(copy, options, pending);
  });
  return Object.setPrototypeOf(agent, between);
}

/** A thread is re-read for at most this long: the stream of one with an active run ends when that run does. */
const REREAD_MS = 10_000;

/** The ids in the first RUN_FINISHED; none if the agent has no `connect()`, fails, or takes too long. */
function readOpenInterrupts(connect: () => Observable<unknown>): Observable<readonly string[]> {
  return defer(connect).pipe(
    filter(isObject),
    filter(({ type }) => type === "RUN_FINISHED" || type === "RUN_ERROR"),
    take(1),
    map((event) => interruptsOf(event).map(({ id }) => id)),
    defaultIfEmpty<readonly string[], readonly string[]>([]),
    timeout(REREAD_MS),
    catchError(() => of([])),
  );
}

function unknownInterrupt(threadId: string): string {
  return (
    `The answer names no interrupt, and no open interrupt of thread "${threadId}" could be found. ` +
    "Send interruptId with the answer, or reload the thread and answer again."
  );
}

function isMethod(value: unknown): value is Method {
  return typeof value === "function";
}

function define(target: object, name: string, value: (this: unknown, input: unknown) => unknown): void {
  Object.defineProperty(target, name, { value, configurable: true, writable: true });
}

function recordPending(pending: Pending, threadId: string, event: JsonObject): void {
  if (event.type !== "RUN_FINISHED" && event.type !== "RUN_STARTED") return;
  const ids = interruptsOf(event).map(({ id }) => id);
  pending.delete(threadId);
  if (ids.length === 0) return;
  pending.set(threadId, ids);
  const [oldest] = pending.keys();
  if (pending.size > MAX_THREADS && oldest !== undefined) pending.delete(oldest);
}
