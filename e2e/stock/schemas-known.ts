import type { Client } from "@langchain/langgraph-sdk";

/**
 * Waits until a dev server knows a graph's schemas. The first to ask waits while it compiles the graph, and on a busy machine
 * the server gives up and answers 500; a later request finds it further.
 */
export async function schemasKnown(client: Client, graph: string): Promise<void> {
  for (let attempts = 5; ; attempts--) {
    try {
      return void (await client.assistants.getSchemas(graph));
    } catch (error) {
      if (attempts === 1) throw error;
    }
  }
}
