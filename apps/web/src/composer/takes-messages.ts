import type { CatalogAgent } from "../service/queries/agents";

/** Whether a message reaches the graph. Of a graph whose channels are not known, one must assume so. */
export function takesMessages({ inputSchema }: Pick<CatalogAgent, "inputSchema">): boolean {
  const channels = Object.keys(Object(inputSchema.properties));
  return channels.length === 0 || channels.includes("messages");
}
