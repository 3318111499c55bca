import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";

const SOURCE = join(import.meta.dirname, "..");

/**
 * Every address of the service that the console changes something at. Agents are spoken to through agent-client and
 * `/api/copilotkit`; what starts a run or writes state in another way is an exception that `docs/adr/0012` gives a reason for.
 */
const EXCEPTIONS = [
  'checkpoints.ts: PATCH threadPath(thread, "/state")',
  'checkpoints.ts: POST threadPath(thread, "/fork")',
  "runs.ts: POST threadPath(thread, route)",
];
/** Lists, titles, crons, files and feedback: no run starts in the page's thread, and no state changes. */
const OTHERS = [
  'thread.ts: POST threadPath(thread, "/attachments", { filename: file.name })',
  "crons.ts: DELETE `/crons/$" + "{segment(id)}`",
  "crons.ts: PATCH `/crons/$" + "{segment(id)}`",
  'crons.ts: POST "/crons"',
  'crons.ts: POST "/crons/preview"',
  "crons.ts: POST `/crons/$" + "{segment(id)}/$" + "{action}`",
  "crons.ts: POST `/crons/$" + "{segment(id)}/run`",
  "thread-feedback.ts: DELETE path",
  'thread-feedback.ts: PUT threadPath(thread, "/feedback")',
  "thread.ts: PATCH threadPath(thread)",
  "thread-lists.ts: DELETE pathOf(row)",
  "thread-lists.ts: PATCH pathOf(row)",
];

interface Call {
  readonly file: string;
  readonly name: string;
  readonly args: readonly string[];
}

function calls(): Call[] {
  const files = readdirSync(SOURCE, { recursive: true, encoding: "utf8" });
  return files
    .filter(
      (file) => /(?<!\.test)\.tsx?$/.test(file) && !file.includes("testing/") && !file.startsWith("app/"),
    )
    .flatMap((file) => {
      const source = ts.createSourceFile(
        file,
        readFileSync(join(SOURCE, file), "utf8"),
        ts.ScriptTarget.Latest,
      );
      const found: Call[] = [];
      const visit = (node: ts.Node): void => {
        if (ts.isCallExpression(node)) {
          const args = node.arguments.map((argument) => argument.getText(source));
          found.push({ file, name: node.expression.getText(source), args });
        }
        ts.forEachChild(node, visit);
      };
      visit(source);
      return found;
    });
}

test("the console changes something at these addresses alone", () => {
  const changes = calls()
    .filter(({ name }) => name === "askService")
    .map(({ file, args: [address = "", , options = ""] }) => {
      const method = /method:\s*"(\w+)"/.exec(options)?.[1] ?? "GET";
      return `${file.split("/").at(-1)}: ${method} ${address.replace(/\s+/g, " ")}`;
    })
    .filter((line) => !/: GET /.test(line));
  expect(changes.sort()).toEqual([...EXCEPTIONS, ...OTHERS].sort());
});

test("a run is started past agent-client by two routes of the exceptions, and no other", () => {
  const routes = calls()
    .filter(({ file, name }) => file.endsWith("runs.ts") && name === "start")
    .map(({ args: [, route] }) => route);
  expect(routes).toEqual(['"/regenerate"', '"/retry"']);
});

test("nothing but askService and the two clients of the service reaches it", () => {
  const askers = calls()
    .filter(({ name }) => ["fetch", "pageFetch", "createAgentClient", "createAccountApi"].includes(name))
    .map(
      ({ file, name, args: [first = ""] }) => `${file}: ${name}(${first.replace(/\s+/g, " ").slice(0, 40)})`,
    );
  expect(askers.sort()).toMatchInlineSnapshot(`
    [
      "data/caller.tsx: createAccountApi({ url: "/api/throughline", fetch: pageFe)",
      "data/request.ts: fetch(input)",
      "data/request.ts: pageFetch(\`/api/throughline\${path}\`)",
      "server/forward.ts: fetch(target)",
      "shell/providers.tsx: createAgentClient({ url: "/api/copilotkit", fetch: pageFet)",
      "shell/session-end.ts: fetch("/api/session")",
    ]
  `);
});
