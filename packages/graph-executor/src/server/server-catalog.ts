import type { Assistant, Client, GraphSchema } from "@langchain/langgraph-sdk";
import {
  type AgentCapability,
  type AgentCatalogPort,
  type Clock,
  type GraphDescriptor,
  type JsonObject,
  parseGraphId,
  toGraphId,
} from "@throughline/ai-core";
import { read, toPlainObject } from "@throughline/coerce";
import { pause } from "./pause.js";
import { toUpstreamError } from "./upstream-failure.js";
import { whileUnreachable } from "./while-unreachable.js";

export interface ServerCatalogOptions {
  readonly client: Client;
  /** For what may take its time. */
  readonly patient: Client;
  readonly clock: Clock;
  readonly connectMs: number;
  /** What is known of some graphs beforehand; a server tells only names and schemas. */
  readonly known: readonly GraphDescriptor[];
  /** Receives what an operator should know of the server's graphs. Default: a warning of the process. */
  readonly warn?: ((message: string) => void) | undefined;
}

const PAGE = 100;
const SCHEMA_WAIT_MS = 2_000;

/** The agents of a LangGraph server: one per graph, whatever further assistants people made of it. */
export function createServerCatalog({
  client,
  patient,
  clock,
  connectMs,
  known,
  warn = (message) => process.emitWarning(message),
}: ServerCatalogOptions): AgentCatalogPort {
  const schemas = new Map<string, Promise<GraphSchema>>();
  const reported = new Set<string>();

  /** Reports a graph whose name can't be part of an agent's id, once. */
  function reportUnnamed(graphId: string): void {
    if (reported.has(graphId)) return;
    reported.add(graphId);
    warn(
      `The LangGraph server's graph ${JSON.stringify(graphId)} is not served: a graph's name must be 1–128 characters of A–Z, a–z, 0–9, _, - and ., and must not begin with a dot.`,
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

  /** Some servers read types with a compiler, ten seconds for a graph: who lists agents does not wait for that. */
  async function schemasOf(graphName: string, assistantId: string): Promise<GraphSchema | undefined> {
    const asked = schemas.get(graphName) ?? patient.assistants.getSchemas(assistantId);
    schemas.set(graphName, asked);
    asked.catch(() => schemas.delete(graphName));
    return Promise.race([asked.catch(() => undefined), pause(clock, SCHEMA_WAIT_MS).then(() => undefined)]);
  }

  async function describe(graphName: string, assistant: Assistant): Promise<GraphDescriptor> {
    const more = known.find((descriptor) => descriptor.graphName === graphName);
    if (more) return more;
    const schema = await schemasOf(graphName, assistant.assistant_id);
    return {
      graphId: toGraphId(graphName),
      graphName,
      name: assistant.name || graphName,
      description: assistant.description ?? "",
      capabilities: capabilitiesOf(schema),
      commands: [],
      inputSchema: schemaOf(schema?.input_schema),
      outputSchema: schemaOf(schema?.output_schema),
      ...(schema && { contextSchema: contextSchemaOf(schema) }),
      subgraphSchemas: {},
    };
  }

  async function list(only?: string): Promise<readonly GraphDescriptor[]> {
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
      return await Promise.all([...byGraph].map(([name, assistant]) => describe(name, assistant)));
    } catch (error) {
      throw toUpstreamError(error);
    }
  }

  return {
    listAgents: () => list(),
    async getAgent(graphId) {
      const name = parseGraphId(graphId);
      return name === undefined ? undefined : (await list(name))[0];
    },
  };
}

/** The server makes one assistant of each graph by itself; others are people's variants of it. */
function isDefault({ metadata }: Assistant): boolean {
  return metadata?.created_by === "system";
}

function capabilitiesOf(schema: GraphSchema | undefined): AgentCapability[] {
  const properties = read(schema?.state_schema, "properties");
  return read(properties, "messages") === undefined ? [] : ["chat"];
}

/** A server's graph without a context schema declares no keys; older servers call the schema `config_schema`. */
function contextSchemaOf(schema: GraphSchema): JsonObject {
  const declared = read(schema, "context_schema") ?? read(schema, "config_schema");
  return { type: "object", properties: {}, ...(declared ? toPlainObject(declared) : {}) };
}

function schemaOf(schema: unknown): JsonObject {
  return schema ? toPlainObject(schema) : { type: "object" };
}
