import type { FrontendTool } from "@throughline/agent-client";
import { useEffect, useRef } from "react";
import { useClientFor } from "./agent-provider.js";
import { useHeld } from "./use-held.js";

/**
 * A tool that runs in this page, declared while mounted. A call runs the `run` of the newest render. What is declared follows
 * `name`, `description` and `parameters` by value; when one of `deps` changes, it is declared anew, and calls under way begin again.
 */
export function useFrontendTool(tool: FrontendTool, deps: readonly unknown[] = []): void {
  const client = useClientFor("useFrontendTool()");
  const newest = useRef(tool);
  useEffect(() => {
    newest.current = tool;
  });
  const { name, description, parameters } = tool;
  useHeld(
    () =>
      client.declareTool({
        name,
        description,
        parameters,
        run: (args, about) => newest.current.run(args, about),
      }),
    [client, name, description, JSON.stringify(parameters), ...deps],
  );
}
