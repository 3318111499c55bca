import type { RunningConsole } from "@throughline/console";
import type { Serving } from "@throughline/langgraph-server/admin";
import type { Terminal } from "./terminal.js";

export interface OpenedConsole {
  /** Aborted when the console ended and starting it again did not help. */
  readonly lost: AbortSignal;
  /** Starts it beside a service and returns its address. */
  start(
    serving: Serving,
    config: { readonly host: string; readonly consolePort: number | undefined },
  ): Promise<string>;
  stop(): Promise<void>;
}

/** Runs the console for as long as its service: neither is of use to a person without the other. */
export function openConsole(
  { reachableUrl, startConsole }: typeof import("@throughline/console"),
  terminal: Terminal,
): OpenedConsole {
  const lost = new AbortController();
  let running: RunningConsole | undefined;
  return {
    lost: lost.signal,
    async start({ url, signIn }, { host, consolePort }) {
      running = await startConsole({
        host,
        port: consolePort,
        serviceUrl: reachableUrl(url),
        signIn: signIn === "dev" ? "account" : "token",
        onTrouble: (sentence) => terminal.complain(sentence),
        onLost(sentence) {
          terminal.complain(`${sentence} Everything is stopped.`);
          lost.abort();
        },
      });
      return running.url;
    },
    stop: async () => running?.stop(),
  };
}
