import { Observable } from "rxjs";
import { isObject, type JsonObject } from "./legacy-value.js";
import { interruptsOf, type LegacyEventOptions, toLegacyEvents } from "./to-legacy-events.js";
import { toResume } from "./to-resume.js";

/** What this needs of an AG-UI agent, of whichever version: each has its own types of input and event. */
export interface WrappableAgent {
  run(input: never): unknown;
  clone(): unknown;
}

export type ClientCompatibilityOptions = Partial<LegacyEventOptions>;

/**
 * The same agent for clients that know `CUSTOM on_interrupt` and answer with `forwardedProps.command.resume`. Everything else
 * passes unchanged and in order. The agent given is left as it is; clones of the result are wrapped too, since runtimes clone.
 */
export function withClientCompatibility<Agent extends WrappableAgent>(
  agent: Agent,
  options: ClientCompatibilityOptions = {},
): Agent {
  const { value = "text", outcome = "omit" } = options;
  // A clone is of the agent's own class, which `clone` can't say.
  return wrap(agent.clone() as Agent, { value, outcome }, new Map());
}

/** Ids of the interrupts that threads wait for, for clients that answer without naming one. */
type Pending = Map<string, readonly string[]>;
const MAX_THREADS = 1_000;

type Method = (this: unknown, input: unknown) => Observable<unknown>;

function wrap<Agent extends object>(agent: Agent, options: LegacyEventOptions, pending: Pending): Agent {
  const own: object = Object.getPrototypeOf(agent);
  // Between the agent and its class, so that its other methods, private fields and `instanceof` stay what they are.
  const between: object = Object.create(own);

  function translate(method: Method, agentItself: unknown, input: unknown): Observable<unknown> {
    const threadId = isObject(input) && typeof input.threadId === "string" ? input.threadId : "";
    const asked = isObject(input) ? toResume(input, pending.get(threadId) ?? []) : input;
    const source = method.call(agentItself, asked);
    return new Observable((subscriber) =>
      source.subscribe({
        next(event) {
          if (!isObject(event)) return subscriber.next(event);
          remember(pending, threadId, event);
          for (const told of toLegacyEvents(event, options)) subscriber.next(told);
        },
        error: (error: unknown) => subscriber.error(error),
        complete: () => subscriber.complete(),
      }),
    );
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

function isMethod(value: unknown): value is Method {
  return typeof value === "function";
}

function define(target: object, name: string, value: (this: unknown, input: unknown) => unknown): void {
  Object.defineProperty(target, name, { value, configurable: true, writable: true });
}

function remember(pending: Pending, threadId: string, event: JsonObject): void {
  if (event.type !== "RUN_FINISHED" && event.type !== "RUN_STARTED") return;
  const ids = interruptsOf(event).map(({ id }) => id);
  pending.delete(threadId);
  if (ids.length === 0) return;
  pending.set(threadId, ids);
  const [oldest] = pending.keys();
  if (pending.size > MAX_THREADS && oldest !== undefined) pending.delete(oldest);
}
