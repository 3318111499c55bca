import type { ErrorClass } from "@throughline/ai-core";
import { read, readArray, readNumber, readString } from "./read.js";

/** The longest chain of causes that is followed. */
const MAX_DEPTH = 5;

/**
 * Classifies an error by its shape alone: it may come from another copy of a library or from a server, as JSON. An error of
 * unknown shape is the node's own failure, or, where no node ran, the graph's.
 */
export function classifyError(error: unknown, { inNode }: { readonly inNode: boolean }): ErrorClass {
  let current = error;
  for (let depth = 0; depth < MAX_DEPTH && current !== undefined && current !== null; depth += 1) {
    const errorClass = classOf(current);
    if (errorClass !== undefined) return errorClass;
    current = read(current, "cause") ?? readArray(current, "errors")[0];
  }
  return inNode ? "node" : "graph";
}

function classOf(error: unknown): ErrorClass | undefined {
  const name = readString(error, "name") ?? readString(error, "error") ?? "";
  const code = readString(error, "code") ?? "";
  if (name === "ThroughlineError" || name === "StoreOutage") return BY_OWN_CODE[code];
  const known = BY_NAME[name];
  if (known !== undefined) return known;
  const langchain = readString(error, "lc_error_code");
  if (langchain !== undefined) return BY_LANGCHAIN_CODE[langchain] ?? "graph";
  if (UNREACHABLE.test(code)) return "upstream";
  if (readNumber(error, "status") !== undefined && isModelApi(error, name)) return "model";
  return name.startsWith("Axios") || readNumber(read(error, "response"), "status") !== undefined
    ? "upstream"
    : undefined;
}

/** Whether the SDKs of OpenAI or Anthropic, or others from the same generator, threw the error. */
function isModelApi(error: unknown, name: string): boolean {
  return (
    name.endsWith("APIError") ||
    read(error, "request_id") !== undefined ||
    read(error, "requestID") !== undefined ||
    readString(read(error, "error"), "type") !== undefined ||
    readString(read(read(error, "error"), "error"), "type") !== undefined
  );
}

const UNREACHABLE = /^(ECONN|ENOTFOUND|EAI_|EHOST|ENET|ETIMEDOUT|EPIPE|UND_ERR_)/;

const BY_OWN_CODE: Readonly<Record<string, ErrorClass>> = {
  cancelled: "cancelled",
  store_unavailable: "store",
  upstream_unavailable: "upstream",
  graph_changed: "graph",
  invalid_input: "graph",
  run_lost: "upstream",
};

const BY_LANGCHAIN_CODE: Readonly<Record<string, ErrorClass>> = {
  CONTEXT_OVERFLOW: "model",
  INVALID_TOOL_RESULTS: "model",
  MODEL_ABORTED: "cancelled",
  MODEL_AUTHENTICATION: "model",
  MODEL_NOT_FOUND: "model",
  MODEL_RATE_LIMIT: "model",
  OUTPUT_PARSING_FAILURE: "model",
  INVALID_PROMPT_INPUT: "node",
};

const BY_NAME: Readonly<Record<string, ErrorClass>> = {
  AbortError: "cancelled",
  CancelledError: "cancelled",
  ModelAbortError: "cancelled",
  UserInterrupt: "cancelled",
  ToolInvocationError: "tool",
  ToolInputParsingException: "tool",
  ToolException: "tool",
  ContextOverflowError: "model",
  OutputParserException: "model",
  StructuredOutputParsingError: "model",
  MultipleStructuredOutputsError: "model",
  APIConnectionError: "model",
  APIConnectionTimeoutError: "model",
  APITimeoutError: "model",
  AuthenticationError: "model",
  BadRequestError: "model",
  InternalServerError: "model",
  PermissionDeniedError: "model",
  RateLimitError: "model",
  RemoteException: "upstream",
  EmptyChannelError: "graph",
  EmptyInputError: "graph",
  GraphRecursionError: "graph",
  GraphValueError: "graph",
  InvalidUpdateError: "graph",
  MultipleSubgraphError: "graph",
  NodeTimeoutError: "node",
  StateGraphInputError: "graph",
  UnreachableNodeError: "graph",
};
