import type { RunningConsole } from "@throughline/console";
import type { Serving } from "@throughline/langgraph-server/admin";
import type { Terminal } from "./terminal.js";

export interface OpenedConsole {
  /** Where it is once it was started. */
  readonly url: string;
  /** Aborted when the console ended and starting it again did not help. */
  readonly lost: AbortSignal;
  /** Starts it beside a service. */
  start(serving: Serving): Promise<void>;
  stop(): Promise<void>;
}

export interface ConsolePlace {
  readonly host: string;
  readonly consolePort: number | undefined;
}

/**
 * Runs the console for as long as its service: neither is of use to a person without the other. Its port is chosen before
 * the service starts, which says where the console is.
 */
export async function openConsole(
  { addressOf, consolePort, reachableUrl, startConsole }: typeof import("@throughline/console"),
  { host, consolePort: wanted }: ConsolePlace,
  terminal: Terminal,
): Promise<OpenedConsole> {
  const lost = new AbortController();
  const port = await consolePort(host, wanted);
  let running: RunningConsole | undefined;
  return {
    url: reachableUrl(addressOf(host, port)),
    lost: lost.signal,
    async start({ url, signIn }) {
      running = await startConsole({
        host,
        port,
        serviceUrl: reachableUrl(url),
        signIn: signIn === "dev" ? "account" : "token",
        onTrouble: (sentence) => terminal.complain(sentence),
        onLost(sentence) {
          terminal.complain(`${sentence} Everything is stopped.`);
          lost.abort();
        },
      });
    },
    stop: async () => running?.stop(),
  };
}
