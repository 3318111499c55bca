import { existsSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { parseEnv } from "node:util";
import { graphNameSchema, ThroughlineError } from "@throughline/ai-core";
import { z } from "zod";

const graphSpecSchema = z.union([
  z.string(),
  z.object({
    path: z.string(),
    description: z.string().optional(),
    commands: z.array(z.string().min(1).max(128)).optional(),
    suggestions: z.array(z.string().min(1).max(200)).max(10).optional(),
  }),
]);

const langgraphJsonSchema = z.object({
  graphs: z.record(graphNameSchema, graphSpecSchema),
  env: z.union([z.string(), z.record(z.string(), z.string())]).optional(),
});

/** One line of `graphs`: `./path.ts:export`, relative to the configuration file. */
export interface GraphSpec {
  readonly graphName: string;
  readonly file: string;
  readonly exportName: string;
  readonly description: string | undefined;
  /** R29: what the graph reads from `config.configurable.command`; LangGraph itself has no place to say so. */
  readonly commands: readonly string[];
  /** Questions that the graph answers well. */
  readonly suggestions: readonly string[];
}

export interface LanggraphJson {
  readonly graphs: readonly GraphSpec[];
  /** Variables the graphs expect; the process's own win over them. */
  readonly env: Readonly<Record<string, string>>;
}

/** Reads a project's `langgraph.json`; every failure names the file and what to change in it. */
export function readLanggraphJson(path: string): LanggraphJson {
  const folder = dirname(path);
  const parsed = langgraphJsonSchema.safeParse(parseJson(path));
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new ThroughlineError(
      "invalid_input",
      `${path}: ${issue?.path.join(".") || "the file"}: ${issue?.message ?? "is not valid"}`,
    );
  }
  const graphs = Object.entries(parsed.data.graphs).map(([graphName, spec]): GraphSpec => {
    const {
      path: target,
      description,
      commands = [],
      suggestions = [],
    } = typeof spec === "string" ? { path: spec } : spec;
    const colon = target.lastIndexOf(":");
    // A Windows drive (`C:\…`) also holds a colon; an export's name holds no separator.
    const hasExport = colon > 1 && !/[\\/]/.test(target.slice(colon + 1));
    return {
      graphName,
      file: resolve(folder, hasExport ? target.slice(0, colon) : target),
      exportName: hasExport ? target.slice(colon + 1) : "default",
      description,
      commands,
      suggestions,
    };
  });
  return { graphs, env: readEnv(path, parsed.data.env) };
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

function readEnv(path: string, env: string | Record<string, string> | undefined): Record<string, string> {
  if (env === undefined) return {};
  if (typeof env !== "string") return env;
  const file = resolve(dirname(path), env);
  if (!existsSync(file))
    throw new ThroughlineError("invalid_input", `${path}: env: there is no file ${file}.`);
  const entries = Object.entries(parseEnv(readFileSync(file, "utf8")));
  return Object.fromEntries(entries.flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])));
}
