import { existsSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { parseEnv } from "node:util";
import {
  type AgentCapability,
  agentCapabilitySchema,
  graphNameSchema,
  isReservedConfigKey,
  type RunConfig,
  runConfigSchema,
  type SubgraphShape,
  subgraphShapesSchema,
  ThroughlineError,
} from "@throughline/ai-core";
import { read } from "@throughline/coerce";
import { z } from "zod";

/** A key that the service writes itself would be overwritten in each run, so it is refused where it is written. */
const graphConfigSchema = runConfigSchema.superRefine(({ configurable = {} }, context) => {
  for (const key of Object.keys(configurable)) {
    if (key !== "model" && !isReservedConfigKey(key)) continue;
    const message =
      key === "model"
        ? "name the model as `model` of the graph"
        : "is reserved. Use another name for the key";
    context.addIssue({ code: "custom", path: ["configurable", key], message });
  }
});

const graphSpecSchema = z.union([
  z.string(),
  z.object({
    path: z.string(),
    name: z.string().min(1).max(128).optional(),
    description: z.string().optional(),
    capabilities: z.array(agentCapabilitySchema).optional(),
    commands: z.array(z.string().min(1).max(128)).optional(),
    suggestions: z.array(z.string().min(1).max(200)).max(10).optional(),
    hasScript: z.boolean().optional(),
    model: z.string().min(1).max(128).optional(),
    config: graphConfigSchema.optional(),
    context_keys: z.array(z.string().min(1).max(128)).optional(),
    subgraphs: subgraphShapesSchema.optional(),
    outputs: z.array(z.string().min(1).max(128)).optional(),
  }),
]);

/** Keys for building an image, or for people: nothing here depends on them. */
const HARMLESS = new Set([
  "$schema",
  "_INTERNAL_docker_tag",
  "api_version",
  "base_image",
  "dependencies",
  "dockerfile_lines",
  "env",
  "graphs",
  "image_distro",
  "keep_pkg_tools",
  "name",
  "node_version",
  "pip_config_file",
  "pip_installer",
  "python_version",
  "source",
  "throughline",
]);

/** Keys without which a project would be served less safely than its author wrote it. */
const REQUIRED: Readonly<Record<string, string>> = {
  auth: "Throughline does not call the project's own authentication. Sign people in with THROUGHLINE_JWT_SECRET or THROUGHLINE_JWKS_URL",
  encryption:
    "Throughline does not call the project's own encryption of stored data. Encrypt the database's disk",
  http: "Throughline does not serve the project's own routes, middleware or CORS rules. Serve them next to it, and set THROUGHLINE_CORS_ORIGINS for pages elsewhere",
};

/** Keys whose effect is lost, and what to use here. */
const REPLACED: Readonly<Record<string, string>> = {
  checkpointer: "checkpoints are stored in Throughline's database; retention has settings of its own",
  store: "the store is in Throughline's database, without an index by meaning and without a time to live",
  ui: "generative UI components are not served; send custom events and draw them in your page",
  ui_config: "generative UI components are not served",
  webhooks: "no webhooks are sent",
};

const langgraphJsonSchema = z.looseObject({
  // Keys are checked by hand: for a record's key zod reports only that it is invalid.
  graphs: z.record(z.string(), graphSpecSchema).superRefine((graphs, context) => {
    const names = Object.keys(graphs);
    if (names.length === 0) {
      const message = 'names no graph. Add one, as "agent": "./src/agent.ts:graph"';
      context.addIssue({ code: "custom", message });
    }
    for (const name of names) {
      const problem = graphNameSchema.safeParse(name).error?.issues[0];
      if (problem) context.addIssue({ code: "custom", path: [name], message: problem.message });
    }
  }),
  env: z.union([z.string(), z.record(z.string(), z.string())]).optional(),
  throughline: z.strictObject({ ignore: z.array(z.string()).optional() }).optional(),
});

/** One line of `graphs`: `./path.ts:export`, relative to the configuration file. */
export interface GraphSpec {
  readonly graphName: string;
  readonly file: string;
  readonly exportName: string;
  /** For people; the graph's name where it is absent. */
  readonly name: string | undefined;
  readonly description: string | undefined;
  /** R29: what the graph reads from `config.configurable.command`; LangGraph itself has no field for it. */
  readonly commands: readonly string[];
  /** Suggested prompts that suit the graph. */
  readonly suggestions: readonly string[];
  /** Capabilities that the graph's shape does not show. */
  readonly capabilities: readonly AgentCapability[];
  /** Whether it replies from a script where no model is configured. */
  readonly hasScript: boolean;
  /** The model of runs that name none. */
  readonly model: string | undefined;
  /** Default configuration of its runs; a run's own overrides it. */
  readonly config: RunConfig;
  /** Keys of its configuration that can't be read from the graph, as those of an `Annotation.Root`. */
  readonly contextKeys: readonly string[];
  /** Keys of its subgraphs' final states, by the name of the node or subagent. */
  readonly subgraphs: Readonly<Record<string, SubgraphShape>> | undefined;
  /** Keys of its output that a LangGraph server's schema does not name. */
  readonly outputs: readonly string[];
}

export interface LanggraphJson {
  readonly graphs: readonly GraphSpec[];
  /** Variables the graphs expect; the process's own win over them. */
  readonly env: Readonly<Record<string, string>>;
  /** Sentences about parts of the file that have no effect here. */
  readonly warnings: readonly string[];
  /** The reason why this process may not serve the graphs; `undefined` where it may. */
  readonly refusal: string | undefined;
}

/** Reads a project's `langgraph.json`; every failure names the file and what to change in it. */
export function readLanggraphJson(path: string): LanggraphJson {
  const folder = dirname(path);
  const parsed = langgraphJsonSchema.safeParse(parseJson(path));
  if (!parsed.success) {
    const { at, message } = firstProblem(parsed.error.issues);
    throw new ThroughlineError("invalid_input", `${path}: ${at.join(".") || "the file"}: ${message}`);
  }
  const graphs = Object.entries(parsed.data.graphs).map(([graphName, spec]): GraphSpec => {
    const {
      path: target,
      name,
      description,
      commands = [],
      suggestions = [],
      capabilities = [],
      hasScript = false,
      model,
      config = {},
      context_keys: contextKeys = [],
      subgraphs,
      outputs = [],
    } = typeof spec === "string" ? { path: spec } : spec;
    const colon = target.lastIndexOf(":");
    // A Windows drive (`C:\…`) also holds a colon; an export's name holds no separator.
    const hasExport = colon > 1 && !/[\\/]/.test(target.slice(colon + 1));
    return {
      graphName,
      file: resolve(folder, hasExport ? target.slice(0, colon) : target),
      exportName: hasExport ? target.slice(colon + 1) : "default",
      name,
      description,
      commands,
      suggestions,
      capabilities,
      hasScript,
      model,
      config,
      contextKeys,
      subgraphs,
      outputs,
    };
  });
  const { env, missing } = readEnv(path, parsed.data.env);
  const unserved = unservedKeys(path, parsed.data);
  return {
    graphs,
    env,
    warnings: [...(missing === undefined ? [] : [missing]), ...unserved.warnings],
    refusal: unserved.refusal,
  };
}

/** A graph is a text or an object: of one that is neither, the problem is in the form that reads furthest. */
function firstProblem(issues: readonly z.core.$ZodIssue[]): {
  readonly at: readonly PropertyKey[];
  readonly message: string;
} {
  const [issue] = issues;
  if (!issue) return { at: [], message: "is not valid" };
  const inner = issue.code === "invalid_union" ? issue.errors.map(firstProblem) : [];
  const deepest = inner.toSorted((a, b) => b.at.length - a.at.length)[0];
  if (!deepest || deepest.at.length === 0) return { at: issue.path, message: issue.message };
  return { at: [...issue.path, ...deepest.at], message: deepest.message };
}

/** A key that this process does not honour is named, never dropped without a word. `throughline.ignore` accepts the loss. */
function unservedKeys(
  path: string,
  { throughline, ...config }: z.infer<typeof langgraphJsonSchema>,
): Pick<LanggraphJson, "warnings" | "refusal"> {
  const ignored = new Set(throughline?.ignore);
  const warnings: string[] = [];
  let refusal: string | undefined;
  for (const [key, value] of Object.entries(config)) {
    if (HARMLESS.has(key) || ignored.has(key) || value === undefined || value === null) continue;
    // A key that names the project's own code stores data elsewhere than Throughline would.
    const isCustom = key in REPLACED && typeof read(value, "path") === "string";
    const why =
      REQUIRED[key] ?? (isCustom ? `the project's own ${key} is not used: ${REPLACED[key]}` : undefined);
    if (why !== undefined) {
      refusal ??= `${path}: ${key}: ${why}. To serve the graphs without it, add "throughline": { "ignore": ["${key}"] }.`;
    } else {
      warnings.push(
        `${path}: ${key} has no effect: ${REPLACED[key] ?? "Throughline does not know this key"}.`,
      );
    }
  }
  return { warnings, refusal };
}

function parseJson(path: string): unknown {
  if (!existsSync(path))
    throw new ThroughlineError(
      "invalid_input",
      `${path}: there is no such file. Name your project's langgraph.json.`,
    );
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    throw new ThroughlineError("invalid_input", `${path}: is not JSON.`);
  }
}

/** A file that is not there is no failure: a fresh clone has none, and its variables may come from elsewhere. */
function readEnv(
  path: string,
  env: string | Record<string, string> | undefined,
): { readonly env: Record<string, string>; readonly missing?: string } {
  if (env === undefined) return { env: {} };
  if (typeof env !== "string") return { env };
  const file = resolve(dirname(path), env);
  if (!existsSync(file)) return { env: {}, missing: `${path}: env: there is no file ${file}.` };
  const entries = Object.entries(parseEnv(readFileSync(file, "utf8")));
  return {
    env: Object.fromEntries(entries.flatMap(([key, value]) => (value === undefined ? [] : [[key, value]]))),
  };
}
