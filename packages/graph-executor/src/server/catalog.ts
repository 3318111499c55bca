import type { Assistant, Client, GraphSchema } from "@langchain/langgraph-sdk";
import {
  type AgentCapability,
  type AgentCatalogPort,
  agentCapabilitySchema,
  type Clock,
  type GraphDescriptor,
  type JsonObject,
  parseGraphId,
  subgraphShapesSchema,
  toGraphId,
} from "@throughline/ai-core";
import { isJsonObject, read, toPlainObject } from "@throughline/coerce";
import { z } from "zod";
import type { GraphNotes } from "../graphs/graph.js";
import { toUpstreamError, whileUnreachable } from "./client.js";
import { createGraphSchemas, hidesOutput, inputSchemaOf, outputSchemaOf } from "./graph-schemas.js";

export interface ServerCatalogOptions {
  readonly client: Client;
  /** For what may take its time. */
  readonly patient: Client;
  readonly clock: Clock;
  readonly connectMs: number;
  /** The operator's declarations of the server's graphs; they override those of their assistants. Schemas are the server's. */
  readonly declared: readonly GraphNotes[];
  /** Receives what an operator should know of the server's graphs. Default: a warning of the process. */
  readonly warn?: ((message: string) => void) | undefined;
}

const PAGE = 100;
/** A list of agents does not wait for a server that reads its graphs' types with a compiler. */
const LIST_WAIT_MS = 2_000;
/**
 * How long one agent's schema is waited for, longer than the server lets its compiler run: without one no key is known to be
 * output.
 */
const AGENT_WAIT_MS = 40_000;

/** The agents of a LangGraph server: one per graph, whatever further assistants people made of it. */
export function createServerCatalog({
  client,
  patient,
  clock,
  connectMs,
  declared,
  warn = (message) => process.emitWarning(message),
}: ServerCatalogOptions): AgentCatalogPort {
  const schemas = createGraphSchemas(patient, clock);
  const reported = new Set<string>();

  /** Reports a graph whose name can't be part of an agent's id, once. */
  function reportUnnamed(graphId: string): void {
    if (reported.has(graphId)) return;
    reported.add(graphId);
    warn(
      `The LangGraph server's graph ${JSON.stringify(graphId)} is not served: a graph's name must be 1–64 characters of A–Z, a–z, 0–9, _, - and ., and must not begin with a dot.`,
    );
  }

  async function search(graphId?: string): Promise<readonly Assistant[]> {
    const found: Assistant[] = [];
    for (;;) {
      const page = await client.assistants.search({
        limit: PAGE,
        offset: found.length,
        ...(graphId !== undefined && { graphId }),
      });
      found.push(...page);
      if (page.length < PAGE) return found;
    }
  }

  /** Reports a graph whose state is not shown, once. */
  function reportHidden(graphName: string): void {
    const subject = `output of ${graphName}`;
    if (reported.has(subject)) return;
    reported.add(subject);
    warn(
      `The LangGraph server does not tell which keys of the graph "${graphName}" are its output: only its messages are shown. Name the keys as "outputs" of the graph in langgraph.json.`,
    );
  }

  async function describe(graphName: string, assistant: Assistant, waitMs: number): Promise<GraphDescriptor> {
    const known = await schemas.of(graphName, assistant.assistant_id, waitMs);
    const schema = known?.schema;
    const own = notesOf(assistant);
    const notes = declared.find((each) => each.graphName === graphName);
    const commands = given(notes?.commands) ?? own.commands ?? [];
    const capabilities = [...(notes?.capabilities ?? []), ...(own.capabilities ?? [])];
    const subgraphs = notes?.subgraphs ?? own.subgraphs;
    const suggestions = given(notes?.suggestions) ?? own.suggestions ?? [];
    const outputs = given(notes?.outputs) ?? given(own.outputs);
    if (known && hidesOutput(known, outputs)) reportHidden(graphName);
    return {
      graphId: toGraphId(graphName),
      graphName,
      name: notes?.name ?? own.name ?? (assistant.name || graphName),
      description: notes?.description ?? own.description ?? assistant.description ?? "",
      capabilities: [
        ...new Set([
          ...capabilitiesOf(schema),
          ...(commands.length > 0 ? (["commands"] as const) : []),
          ...capabilities,
        ]),
      ],
      commands: [...commands],
      ...(suggestions.length > 0 && { suggestions: [...suggestions] }),
      ...(notes?.model !== undefined && { model: notes.model }),
      inputSchema: inputSchemaOf(known),
      outputSchema: outputSchemaOf(known, outputs),
      ...((schema || notes?.contextKeys) && { contextSchema: contextSchemaOf(schema, notes?.contextKeys) }),
      ...(subgraphs && { subgraphs: { ...subgraphs } }),
    };
  }

  async function list(waitMs: number, only?: string): Promise<readonly GraphDescriptor[]> {
    try {
      const assistants = await whileUnreachable(() => search(only), { clock, boundMs: connectMs });
      const byGraph = new Map<string, Assistant>();
      for (const assistant of assistants) {
        const name = parseGraphId(assistant.graph_id);
        if (name === undefined) {
          reportUnnamed(assistant.graph_id);
          continue;
        }
        if (byGraph.has(name) && !isDefault(assistant)) continue;
        byGraph.set(name, assistant);
      }
      return await Promise.all([...byGraph].map(([name, assistant]) => describe(name, assistant, waitMs)));
    } catch (error) {
      throw toUpstreamError(error);
    }
  }

  return {
    listAgents: () => list(LIST_WAIT_MS),
    async getAgent(graphId) {
      const name = parseGraphId(graphId);
      return name === undefined ? undefined : (await list(AGENT_WAIT_MS, name))[0];
    },
  };
}

/** The list, unless it is empty. */
function given<Item>(list: readonly Item[] | undefined): readonly Item[] | undefined {
  return list && list.length > 0 ? list : undefined;
}

/** Notes about a graph that its assistant's author may put in the assistant's metadata for Throughline. */
const assistantNotesSchema = z.object({
  name: z.string().min(1).optional().catch(undefined),
  description: z.string().optional().catch(undefined),
  commands: z.array(z.string().min(1).max(128)).optional().catch(undefined),
  suggestions: z.array(z.string().min(1).max(200)).max(10).optional().catch(undefined),
  capabilities: z.array(agentCapabilitySchema).optional().catch(undefined),
  subgraphs: subgraphShapesSchema.optional().catch(undefined),
  outputs: z.array(z.string().min(1)).optional().catch(undefined),
});

/** Metadata may hold anything: what can't be read is left out. */
function notesOf({ metadata }: Assistant): z.infer<typeof assistantNotesSchema> {
  const parsed = assistantNotesSchema.safeParse(read(metadata, "throughline"));
  return parsed.success ? parsed.data : {};
}

/** The server makes one assistant of each graph by itself; others are people's variants of it. */
function isDefault({ metadata }: Assistant): boolean {
  return metadata?.created_by === "system";
}

function capabilitiesOf(schema: GraphSchema | undefined): AgentCapability[] {
  const properties = read(schema?.state_schema, "properties");
  return read(properties, "messages") === undefined ? [] : ["chat"];
}

/**
 * The keys of its configuration that a server's graph publishes, and those that the operator declares: LangGraph's JavaScript
 * server publishes none. Older servers call the schema `config_schema`.
 */
function contextSchemaOf(schema: GraphSchema | undefined, declaredKeys: readonly string[] = []): JsonObject {
  const published = read(schema, "context_schema") ?? read(schema, "config_schema");
  const plain = published ? toPlainObject(published) : {};
  const declared = Object.fromEntries(declaredKeys.map((key) => [key, {}]));
  return {
    type: "object",
    ...plain,
    properties: { ...declared, ...(isJsonObject(plain.properties) && plain.properties) },
  };
}
