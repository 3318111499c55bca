/**
 * What is held against a peer, by where its number stands in the report of a bench: `[group, label]`.
 *
 * @typedef {{ bench: string, name: string, title: string, better: "lower" | "higher", ours: readonly [string, string],
 *   peers: Readonly<Record<string, readonly [string, string]>> }} Comparison
 */

const firstToken = (runs) => ({
  bench: "server",
  name: `first-token-${runs}`,
  title: `First token over HTTP, ${runs} ${runs === 1 ? "run" : "runs at once"}, ms`,
  better: "lower",
  ours: ["first token, ms", `${runs} at once`],
  peers: {
    "bare graph over HTTP": ["first token, ms: bare graph over HTTP", `${runs} at once`],
    "LangGraph dev, 10 workers": ["first token, ms: stock, 10 workers", `${runs} at once`],
    "LangGraph dev, 100 workers": ["first token, ms: stock, 100 workers", `${runs} at once`],
  },
});

const tokenLag = (which) => ({
  bench: "load",
  name: `load-token-lag-${which}`,
  title: `Token lag under the same load, ${which}, ms`,
  better: "lower",
  ours: ["throughline: token lag ms", which],
  peers: {
    "LangGraph dev, resumable": ["langgraph dev, resumable: token lag ms", which],
    "LangGraph dev, as shipped": ["langgraph dev, as shipped: token lag ms", which],
    "CopilotKit, in memory": ["copilotkit: token lag ms", which],
  },
});

const underLoad = (name, title, group, label) => ({
  bench: "load",
  name,
  title,
  better: "lower",
  ours: [`throughline: ${group}`, label],
  peers: {
    "LangGraph dev, resumable": [`langgraph dev, resumable: ${group}`, label],
    "LangGraph dev, as shipped": [`langgraph dev, as shipped: ${group}`, label],
    "CopilotKit, in memory": [`copilotkit: ${group}`, label],
  },
});

/** @type {readonly Comparison[]} */
export const COMPARISONS = [
  {
    bench: "translate",
    name: "translate-speed",
    title: "LangGraph events to AG-UI, tokens per CPU second",
    better: "higher",
    ours: ["tokensPerCpuSecond", "modes"],
    peers: { "@ag-ui/langgraph": ["tokensPerCpuSecond", "events"] },
  },
  {
    bench: "translate",
    name: "translate-bytes",
    title: "Bytes on the wire for the same run",
    better: "lower",
    ours: ["bytesOut", "25 ms per token"],
    peers: { "@ag-ui/langgraph": ["bytesOut", "base"] },
  },
  firstToken(1),
  firstToken(50),
  firstToken(100),
  {
    bench: "server",
    name: "run-cpu",
    title: "CPU of a run with one viewer, ms",
    better: "lower",
    ours: ["CPU ms per run", "1 viewer"],
    peers: { "bare graph over HTTP": ["CPU ms per run: bare graph over HTTP", "1 viewer"] },
  },
  {
    bench: "server",
    name: "frame-cpu",
    title: "CPU per frame, 1,000 viewers, µs",
    better: "lower",
    ours: ["CPU µs per frame", "1000 watching"],
    peers: {
      "res.write": ["CPU µs per frame: res.write", "1000 watching"],
      "Hono streamSSE": ["CPU µs per frame: Hono streamSSE", "1000 watching"],
    },
  },
  {
    bench: "server",
    name: "idle-viewer",
    title: "Memory of an idle viewer, a thread each, KB",
    better: "lower",
    ours: ["KB per idle viewer: a thread each", "held"],
    peers: { "a bare response": ["KB per idle viewer: bare response", "held"] },
  },
  {
    bench: "log",
    name: "log-appends",
    title: "Durable appends per second, 200 producers",
    better: "higher",
    ours: ["appendsPerSecond", "postgres, 200 flat out"],
    peers: { "bare inserts": ["appendsPerSecond", "postgres, 200 flat out"] },
  },
  {
    bench: "log",
    name: "log-tail",
    title: "From append to a watcher elsewhere, 100 watchers, p50 ms",
    better: "lower",
    ours: ["tailP50Ms", "postgres, 100 watchers"],
    peers: { "bare notify and read": ["tailP50Ms", "postgres, 100 watchers"] },
  },
  {
    bench: "executor",
    name: "executor-rate",
    title: "Tokens per CPU second, 100 graphs flat out",
    better: "higher",
    ours: ["ours, with adapter", "tokens/CPU s, 100 flat out"],
    peers: { "bare graph.stream": ["bare, same modes", "tokens/CPU s, 100 flat out"] },
  },
  {
    bench: "client",
    name: "client-token",
    title: "Client CPU per token behind 200 messages, µs",
    better: "lower",
    ours: ["µs per token", "CPU, 200 messages"],
    peers: {
      "@ag-ui/client 0.0.59": ["0.0.59 µs per token", "CPU, 200 messages"],
      "@ag-ui/client 1.0.0": ["1.0.0 µs per token", "CPU, 200 messages"],
    },
  },
  {
    bench: "client",
    name: "client-bundle",
    title: "Client bundle, gzip bytes",
    better: "lower",
    ours: ["bundle", "gzip bytes"],
    peers: {
      "@ag-ui/client 0.0.59": ["0.0.59 bundle", "gzip bytes"],
      "@ag-ui/client 1.0.0": ["1.0.0 bundle", "gzip bytes"],
    },
  },
  tokenLag("p50"),
  tokenLag("p99"),
  underLoad("load-missing", "Tokens that viewers missed under the same load", "lost", "missing"),
  underLoad("load-frames", "Frames sent per second for the same load", "throughput", "frames per second"),
  underLoad(
    "load-cpu",
    "CPU of a run, service and PostgreSQL, ms per second",
    "cost",
    "CPU ms per run and second",
  ),
];
