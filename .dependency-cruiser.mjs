// @ts-check

/** Which packages of ours each may import: arrows point down only. A package that is not listed may import none. */
const MAY_IMPORT = {
  "ai-core": [],
  coerce: ["ai-core"],
  questions: ["ai-core"],
  reading: ["ai-core", "coerce", "questions"],
  "stream-adapter": ["ai-core", "coerce", "reading"],
  "thread-log": ["ai-core"],
  "embedded-postgres": ["ai-core"],
  "graph-executor": ["ai-core", "coerce"],
  billing: ["ai-core"],
  "langgraph-models": ["ai-core"],
  "langgraph-graphs": ["ai-core", "langgraph-models"],
  "langgraph-server": [
    "ai-core",
    "questions",
    "reading",
    "stream-adapter",
    "thread-log",
    "graph-executor",
    "billing",
    "langgraph-models",
    "embedded-postgres",
  ],
  "agent-client": ["ai-core", "reading"],
  "agent-react": ["agent-client", "questions", "ai-core"],
  console: [],
  "create-throughline": [],
  cli: [
    "langgraph-server",
    "agent-client",
    "billing",
    "reading",
    "questions",
    "ai-core",
    "console",
    "create-throughline",
  ],
  "copilotkit-runner": ["thread-log", "embedded-postgres", "stream-adapter", "ai-core"],
  "client-compatibility": [],
  "ai-sdk": ["ai-core"],
};
const APPS_MAY_IMPORT = ["agent-react", "agent-client", "reading", "questions", "ai-core"];
const TESTS_MAY_IMPORT = ["langgraph-graphs", "langgraph-models", "embedded-postgres"];
const SIBLINGS = ["graph-executor", "billing", "thread-log", "stream-adapter"];

/** Tests, and what only tests use. */
const TESTS = "\\.test\\.tsx?$|/(testing|behaviour|conformance|kill)/";

/** A package of ours, as resolved through its link or, before its first build, as written in the import. */
const ours = (/** @type {readonly string[]} */ names) => `^(packages|@throughline)/(${names.join("|")})(/|$)`;
const anyOfOurs = "^(packages|@throughline)/[^/]+";
/** Something from the registry, resolved into node_modules or not. */
const external = (/** @type {readonly string[]} */ names) => `(^|/node_modules/)(${names.join("|")})(/|$)`;

/** @type {import("dependency-cruiser").IForbiddenRuleType[]} */
const arrowsPointDown = [
  ...Object.entries(MAY_IMPORT).flatMap(([name, allowed]) => {
    // Siblings have a rule of their own with a better answer.
    const below = [name, ...allowed, ...(SIBLINGS.includes(name) ? SIBLINGS : [])];
    return [
      {
        from: { path: `^packages/${name}/`, pathNot: [TESTS] },
        to: { path: anyOfOurs, pathNot: [ours(below)] },
      },
      // Tests may run the demo graphs, which know nothing of their executor, and start a database.
      {
        from: { path: `^packages/${name}/.*(${TESTS})` },
        to: { path: anyOfOurs, pathNot: [ours([...below, ...TESTS_MAY_IMPORT])] },
      },
    ];
  }),
  {
    from: { path: "^packages/([^/]+)/", pathNot: [ours(Object.keys(MAY_IMPORT))] },
    to: { path: anyOfOurs, pathNot: ["^packages/$1/"] },
  },
  {
    from: { path: "^apps/" },
    to: { path: anyOfOurs, pathNot: [ours([...APPS_MAY_IMPORT, "langgraph-graphs"])] },
  },
].map((edges) => ({
  name: "ARROWS_POINT_DOWN",
  comment:
    "apps → agent-react → agent-client → reading → ai-core; langgraph-server → executor, billing, log, adapter → ai-core; the adapter reads with reading; cli → langgraph-server and agent-client.",
  severity: "error",
  ...edges,
}));

/** @type {import("dependency-cruiser").IConfiguration} */
export default {
  forbidden: [
    {
      name: "NO_NEXT_IMPORT_GRAPHS",
      comment:
        "The web app talks to graphs through a server; a graph in its bundle would run in the wrong place.",
      severity: "error",
      from: { path: "^apps/" },
      to: { path: ours(["langgraph-graphs"]) },
    },
    {
      name: "PACKAGES_NO_SRC_IMPORTS",
      comment: "Contracts flow from packages to apps, never back.",
      severity: "error",
      from: { path: "^packages/" },
      to: { path: "^(apps|src)/" },
    },
    {
      name: "LANGCHAIN_STAYS_IN_EXECUTORS",
      comment: "Only the graphs and what executes them know LangChain; the rest knows ai-core.",
      severity: "error",
      from: {
        path: "^(packages|apps)/",
        pathNot: ["^packages/(langgraph-graphs|langgraph-models|graph-executor)/"],
      },
      to: { path: external(["@langchain/[^/]+", "langchain", "langsmith", "deepagents"]) },
    },
    {
      name: "AI_CORE_STANDS_ALONE",
      comment: "The contracts belong to no runtime: ai-core depends on zod and uuid only.",
      severity: "error",
      from: { path: "^packages/ai-core/src/", pathNot: [TESTS] },
      to: {
        pathNot: ["^packages/ai-core/", anyOfOurs, "^(apps|src)/", external(["zod", "uuid"])],
        dependencyTypesNot: ["core"],
      },
    },
    {
      name: "SIBLINGS_MEET_IN_AI_CORE",
      comment: "What one of the four needs of another is a port in ai-core, injected by langgraph-server.",
      severity: "error",
      from: { path: `^packages/(${SIBLINGS.join("|")})/` },
      to: { path: ours(SIBLINGS), pathNot: ["^packages/$1/"] },
    },
    ...arrowsPointDown,
    {
      name: "PURE_PACKAGES_DO_NO_IO",
      comment: "Contracts and translation run in a browser, a worker and a test clock alike.",
      severity: "error",
      from: { path: "^packages/(ai-core|coerce|questions|reading|stream-adapter)/src/", pathNot: [TESTS] },
      to: { dependencyTypes: ["core"] },
    },
    {
      name: "TESTING_STAYS_IN_TESTS",
      comment: "What src/testing holds may do what tests may do, so nothing that ships may lean on it.",
      severity: "error",
      from: { path: "^packages/[^/]+/src/", pathNot: [TESTS] },
      to: { path: "^packages/[^/]+/src/testing/" },
    },
    {
      name: "NO_CYCLES",
      comment: "Two files that need each other are one file, or lack a third.",
      severity: "error",
      from: {},
      to: { circular: true },
    },
    {
      name: "NO_DEEP_IMPORTS",
      comment: "A package is entered by its name, through its index; what lies behind it may move.",
      severity: "error",
      from: { path: "^(packages/[^/]+|apps/[^/]+|bench|chaos|e2e|scripts)/" },
      to: {
        path: "^packages/[^/]+/|^@throughline/[^/]+/",
        pathNot: [
          "^$1/",
          "^packages/[^/]+/dist/index\\.(js|d\\.ts)$",
          // An entry of its own, imported for its effect.
          "^packages/langgraph-models/dist/labelled\\.(js|d\\.ts)$",
          // What the command line needs of the server; the index would load every graph.
          "^packages/langgraph-server/dist/(admin|settings|wire)\\.(js|d\\.ts)$",
          "^packages/[^/]+/package\\.json$",
          // A suite that a package runs on its own backends, and e2e on real servers; and what makes up requests for both.
          "^packages/[^/]+/src/behaviour/",
          "^packages/langgraph-server/src/((handler|openapi|retention)/)?testing/",
          // What starts databases, and what makes up recordings.
          "^packages/(thread-log|embedded-postgres|stream-adapter)/src/testing/",
        ],
      },
    },
  ],
  options: {
    // Types cross boundaries too.
    tsPreCompilationDeps: true,
    doNotFollow: { path: "(^|/)(node_modules|dist)/" },
    exclude: { path: "^boundaries/fixtures/" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "types", "default"],
      extensions: [".ts", ".tsx", ".js", ".mjs", ".d.ts"],
    },
  },
};
