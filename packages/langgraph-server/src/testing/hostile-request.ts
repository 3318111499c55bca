import { request as httpRequest } from "node:http";
import { ERROR_CODES } from "@throughline/ai-core";
import fc from "fast-check";
import type { Handler } from "../server/create-handler.js";

export interface HostileRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface HostileAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

const METHODS = ["POST", "POST", "POST", "GET", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"] as const;
/** Roughly half of them name something, so that what lies behind the first check is reached too. */
const NAMES = [
  "chat",
  "chat",
  "langgraph:chat",
  "t",
  "t",
  "nobody",
  "__proto__",
  "..",
  "%00",
  "%ff%fe",
  "%0d%0ax-injected:%201",
  "-1",
  "%F0%9F%8C%8A",
  "a%2Fb",
  "t".repeat(300),
];
const ELSEWHERE = ["/nowhere", "//", "/api/copilotkit/agent/chat/run/", "/..%2f..%2fetc/passwd", "/%"];

const junk = fc.oneof(
  fc.constant(null),
  // `true` is left out: it asks some routes for a stream that never ends.
  fc.constant(false),
  fc.integer(),
  fc.double(),
  fc.string(),
  fc.constantFrom("", "\u0000", "\ud800", "a\r\nb", "x".repeat(600), "__proto__", "every 1 s"),
  fc.array(fc.integer(), { maxLength: 3 }),
  fc.dictionary(fc.constantFrom("id", "role", "content", "type", "__proto__", "constructor"), fc.string(), {
    maxKeys: 3,
  }),
);
const FIELDS = [
  "threadId",
  "runId",
  "state",
  "messages",
  "tools",
  "context",
  "forwardedProps",
  "resume",
  "protocolVersion",
  "lastSeenEventId",
  "accountId",
  "stateKey",
  "model",
  "requestId",
  "traceId",
  "graphName",
  "method",
  "params",
  "body",
  "agent",
  "schedule",
  "timeZone",
  "input",
  "title",
  "checkpointId",
  "threadName",
  "visibility",
  "day",
  "month",
  "softPercent",
];
const OPTIONS = [
  "command",
  "follow",
  "interrupts",
  "fork",
  "profile",
  "dialect",
  "strategy",
  "model",
  "visibility",
  "x",
];
const forwarded = fc.record(
  { throughline: fc.dictionary(fc.constantFrom(...OPTIONS), junk, { maxKeys: 3 }), command: junk },
  { requiredKeys: [] },
);
const message = fc.record(
  { id: junk, role: fc.oneof(fc.constantFrom("user", "assistant", "tool"), junk), content: junk },
  { requiredKeys: [] },
);
const fields = fc.dictionary(
  fc.constantFrom(...FIELDS),
  fc.oneof(junk, fc.array(fc.oneof(junk, message), { maxLength: 3 }), forwarded),
  { maxKeys: 8 },
);
const CURSORS = ["", "0", "e.1.0.1sc", "e.1.0.log", "a\r\nid: 1", "x".repeat(600)];
const subscription = fc.record(
  {
    agentId: fc.oneof(fc.constantFrom("chat", "langgraph:chat", "nobody"), junk),
    threadId: fc.oneof(fc.constantFrom("t", "fuzz"), junk),
    view: fc.oneof(fc.constantFrom("ag-ui", "envelopes"), junk),
    cursor: fc.oneof(fc.constantFrom(...CURSORS), junk),
    visibility: fc.oneof(fc.constantFrom("private", "account"), junk),
  },
  { requiredKeys: ["agentId", "threadId", "view"] },
);
const followed = fc.array(fc.oneof({ weight: 4, arbitrary: subscription }, { weight: 1, arbitrary: junk }), {
  maxLength: 4,
});
const json = fc.oneof(
  {
    weight: 5,
    arbitrary: fc
      .tuple(fields, fc.boolean())
      .map(([sent, named]) => JSON.stringify(named ? { threadId: "fuzz", ...sent } : sent)),
  },
  { weight: 1, arbitrary: followed.map((subscriptions) => JSON.stringify({ subscriptions })) },
);
const MALFORMED = ["", "{", "null", "[]", '"text"', "7", "{}}", "\u0000", "[".repeat(9_000), '{"a":1e999}'];
const OVERSIZED = [
  JSON.stringify({ threadId: "big", messages: "x".repeat(30_000) }),
  JSON.stringify({ threadId: "parts", messages: Array(60).fill({ role: "user", content: "x" }) }),
];
const body = fc.oneof(
  { weight: 6, arbitrary: json },
  { weight: 1, arbitrary: fc.constantFrom(...MALFORMED) },
  { weight: 1, arbitrary: fc.constantFrom(...OVERSIZED) },
);

const CONTENT_TYPES = [
  "application/json",
  "application/json",
  "text/plain",
  "",
  "application/json; charset=x",
];
const HEADERS = [
  "last-event-id",
  "x-request-id",
  "x-trace-id",
  "traceparent",
  "x-throughline-account",
  "x-throughline-subject",
  "x-throughline-role",
  "origin",
  "authorization",
  "x-forwarded-host",
  "accept",
];
const VALUES = [
  "",
  "-1",
  "x",
  "a".repeat(2_000),
  "00-zz-zz-01",
  "a b",
  "é",
  "acme",
  "viewer",
  "admin",
  "a\tb",
  "%0d%0ax-injected: 1",
];

const parameters = fc.dictionary(
  fc.constantFrom("visibility", "action", "subject", "after", "limit", "from", "to", "by", "month", "format"),
  fc.constantFrom(
    "private",
    "account",
    "all",
    "everyone",
    "read_audit",
    "ann",
    "",
    "-1",
    "1",
    "x".repeat(600),
    "\ud800",
    "2026-11",
    "2026-11-31",
    "2999-12-31T23:59:59.999Z",
    "person",
    "csv",
    // A page that no one was given: a key, and a place without an id.
    "IlxkODAwIg",
    "WzAsIngiXQ",
  ),
  { maxKeys: 3 },
);

/** Requests that no good client sends, to every route there is and to some there are not. */
export function hostileRequest(routes: Handler["routes"]): fc.Arbitrary<HostileRequest> {
  const known = fc
    .tuple(fc.constantFrom(...routes), fc.infiniteStream(fc.constantFrom(...NAMES)), parameters)
    .map(([{ path, isStream }, names, more]) => {
      const filled = path.replaceAll(/:\w+/g, () => String(names.next().value));
      const query = new URLSearchParams({ ...more, ...(isStream && { follow: "false" }) });
      return query.size > 0 ? `${filled}?${query}` : filled;
    });
  const path = fc.oneof(
    { weight: 9, arbitrary: known },
    { weight: 1, arbitrary: fc.constantFrom(...ELSEWHERE) },
  );
  const right = fc.constantFrom(...routes).map(({ method }) => method);
  return fc.record({
    method: fc.oneof(fc.constantFrom<string>(...METHODS), right),
    path,
    body,
    headers: fc
      .tuple(
        fc.constantFrom(...CONTENT_TYPES),
        fc.dictionary(fc.constantFrom(...HEADERS), fc.constantFrom(...VALUES), { maxKeys: 3 }),
      )
      .map(([type, more]) => ({ "content-type": type, ...more })),
  });
}

/** By hand, because fetch would not send half of this. */
export function sendHostile(url: string, request: HostileRequest): Promise<HostileAnswer> {
  const { method, path, headers, body: payload } = request;
  const hasBody = method !== "GET" && method !== "HEAD";
  const bytes: [string, string][] = hasBody ? [["content-length", String(Buffer.byteLength(payload))]] : [];
  const sent = [...Object.entries(headers), ...bytes].map(([name, value]) => [
    name,
    Buffer.from(value).toString("latin1"),
  ]);
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const sending = httpRequest(
      { hostname, port, path, method, headers: Object.fromEntries(sent) },
      (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (chunk: string) => {
          text += chunk;
        });
        response.on("end", () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
        );
        response.on("error", reject);
      },
    );
    sending.on("error", reject);
    sending.end(hasBody ? payload : undefined);
  });
}

const REFUSALS: ReadonlySet<number> = new Set(
  Object.values(ERROR_CODES).flatMap(({ status }) => (status !== undefined && status < 500 ? [status] : [])),
);
const ANSWERS: ReadonlySet<number> = new Set([200, 201, 202, 204]);
/** What is measured and what is documented have names of their own. */
const IN_OTHER_WORDS = /^\/(?:metrics|openapi\.json|docs)/;
const INTERNALS = /node_modules|\bat \w+ \(|\/src\/|ZodError|TypeError|stack|ECONN|SELECT |password/i;

/** What is wrong with an answer: a status or a shape that is documented nowhere, or something of our insides. */
export function problemOf(request: HostileRequest, answer: HostileAnswer): string | undefined {
  const problem = wrongWith(request, answer);
  const { method, path, headers, body } = request;
  return problem && `${method} ${path} ${JSON.stringify(headers)} ${body.slice(0, 300)}: ${problem}`;
}

function wrongWith({ method, path }: HostileRequest, answer: HostileAnswer): string | undefined {
  const { status, headers, text } = answer;
  if (!ANSWERS.has(status) && !REFUSALS.has(status)) return `status ${status}`;
  if ("x-injected" in headers) return "a header of the client's making";
  const leaked = IN_OTHER_WORDS.test(path) ? undefined : INTERNALS.exec(text)?.[0];
  if (leaked !== undefined) return `it says ${leaked}`;
  if (status >= 400 && method !== "HEAD") {
    const code = codeIn(text);
    if (code === undefined || !Object.hasOwn(ERROR_CODES, code)) return `no code in ${text.slice(0, 200)}`;
  }
  const isStream = String(headers["content-type"]).startsWith("text/event-stream");
  return isStream && !/(^|\n\n)$/.test(text) ? "a stream that ends within a frame" : undefined;
}

function codeIn(text: string): string | undefined {
  try {
    // A parsed boundary: our own answer.
    return (JSON.parse(text) as { readonly code?: string }).code;
  } catch {
    return undefined;
  }
}
