import { QueryClient } from "@tanstack/react-query";

/** One cache for a page: what two parts ask for is asked once, and what was shown before shows again at once. */
export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        // The service says why it refused, and a person decides: a silent second try would only delay the words.
        retry: false,
        refetchOnWindowFocus: false,
        // A browser that believes it is offline may still reach a console on its own machine.
        networkMode: "always",
      },
      mutations: { retry: false, networkMode: "always" },
    },
  });
}
