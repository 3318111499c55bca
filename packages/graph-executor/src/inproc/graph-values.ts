import type { UpstreamChunk } from "@throughline/ai-core";
import { read, readString } from "@throughline/coerce";
import type { RunnableGraph } from "../graphs/graph.js";

/** Key under which a value is shown that is no state: what a functional graph returns may be anything. */
const OUTPUT_KEY = "output";

/** The values of a graph as an object, which `graph.invoke` returns only where the graph has keys. */
export function valuesAsState(values: unknown): object {
  if (values === undefined || values === null) return {};
  return isPlainObject(values) ? values : { [OUTPUT_KEY]: values };
}

/** A message for one is an object too, and no state. */
function isPlainObject(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Collects what the checkpoint of a run will not have. */
export interface RootValues {
  /** The chunk, with the values of the root as an object. */
  read(chunk: UpstreamChunk): UpstreamChunk;
  /**
   * The newest values of output channels that LangGraph does not store, such as an agent's structured response, and of those that
   * it could not store.
   */
  missing(unstored: readonly string[]): Readonly<Record<string, unknown>>;
}

export function createRootValues({ channels, outputChannels }: RunnableGraph): RootValues {
  const isUntracked = (key: string) => readString(channels[key], "lc_graph_name") === "UntrackedValue";
  const untrackedKeys = [outputChannels].flat().map(String).filter(isUntracked);
  const onlyKey = Array.isArray(outputChannels) ? undefined : String(outputChannels);
  let newest: unknown;

  /** With one channel as its output a graph streams that channel's bare value. `__end__` is the functional API's. */
  function asState(data: unknown): unknown {
    if (onlyKey === undefined || isBareInterrupt(data)) return data;
    return onlyKey.startsWith("__") ? valuesAsState(data) : { [onlyKey]: data };
  }

  return {
    read(chunk) {
      if (chunk.mode !== "values" || chunk.ns.length > 0) return chunk;
      const data = asState(chunk.data);
      if (!isBareInterrupt(data)) newest = data;
      return data === chunk.data ? chunk : { ...chunk, data };
    },
    missing(unstored) {
      const keys = [...untrackedKeys, ...unstored.filter((key) => key !== "messages")];
      const found = keys.map((key) => [key, read(newest, key)]);
      return Object.fromEntries(found.filter(([, value]) => value !== undefined));
    },
  };
}

/** The newest values of a run on a LangGraph server, whose channels are not known here. */
export interface NewestValues {
  read(chunk: UpstreamChunk): void;
  /** Those that a state of the same run lacks: the server streams a channel that it does not store, and stores all others. */
  missingIn(state: Readonly<Record<string, unknown>> | undefined): Readonly<Record<string, unknown>>;
}

export function createNewestValues(): NewestValues {
  let newest: unknown;
  return {
    read({ mode, ns, data }) {
      if (mode === "values" && ns.length === 0 && !isBareInterrupt(data)) newest = data;
    },
    missingIn(state) {
      const found = Object.entries(valuesAsState(newest)).filter(
        ([key]) => key !== "messages" && !key.startsWith("__") && !Object.hasOwn(state ?? {}, key),
      );
      return Object.fromEntries(found);
    },
  };
}

/** On an interrupt the last `values` is `{ __interrupt__ }` alone. */
function isBareInterrupt(data: unknown): boolean {
  return read(data, "__interrupt__") !== undefined && Object.keys(Object(data)).length === 1;
}
