import type { TestContext } from "vitest";
import { runConsole } from "../../../scripts/run-console.mjs";
import { type Chromium, launchChromium } from "../../browser/chromium.js";
import { freePort } from "../../server/rig/free-port.js";
import { type RigPostgres, startPostgres } from "../../server/rig/start-postgres.js";
import { type RigServer, type RigServerOptions, startServer } from "../../server/rig/start-server.js";
import { keepPictures } from "./keep-pictures.js";
import { type Visitor, type VisitorOptions, visit } from "./visitor.js";

/** The console as people have it: the real service, the built console before it, and a browser. */
export interface Stage {
  readonly service: RigServer;
  readonly databaseUrl: string;
  /** The console's. */
  readonly url: string;
  /** A person with a browser profile of their own, signed in. */
  visitor(options?: VisitorOptions): Promise<Visitor>;
  /** A person in the browser's own profile, where tabs are hidden behind one another. */
  visitorWithTabs(): Promise<Visitor>;
  /** After a test: everybody leaves, and what they did stays. Of one that failed, what they saw is kept as pictures. */
  clear(test: TestContext): Promise<void>;
  stop(): Promise<void>;
}

const HOST = "127.0.0.1";

/** So slow that a page can be seen in the middle of an answer, and fast enough not to slow the tests. */
const PACE_MS = "12";

export async function startStage(
  options: Partial<Pick<RigServerOptions, "graphs" | "env">> & {
    /** By account where absent: everyone picks a name. */
    readonly signIn?: "account" | "token";
  } = {},
): Promise<Stage> {
  const undo: (() => Promise<unknown>)[] = [];
  const stop = async () => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  try {
    const postgres: RigPostgres = await startPostgres();
    undo.push(() => postgres.stop());
    const databaseUrl = await postgres.createDatabase();
    const service = await startServer({
      databaseUrl,
      leaseMs: 2_000,
      reapEveryMs: 200,
      ...(options.graphs && { graphs: options.graphs }),
      env: { THROUGHLINE_OFFLINE_PACE_MS: PACE_MS, ...options.env },
    });
    undo.push(() => service.stop());
    const console = await runConsole({
      host: HOST,
      port: await freePort(),
      serviceUrl: service.url,
      signIn: options.signIn ?? "account",
      onTrouble: fail,
      onLost: fail,
    });
    undo.push(() => console.stop());
    const chromium: Chromium = await launchChromium();
    undo.push(() => chromium.close());
    let visitors: Visitor[] = [];
    async function visitor(asked?: VisitorOptions): Promise<Visitor> {
      const came = await visit(chromium.browser, console.url, asked);
      visitors.push(came);
      return came;
    }
    return {
      service,
      databaseUrl,
      url: console.url,
      visitor,
      visitorWithTabs: () => visitor({ profile: chromium.context }),
      async clear({ task }) {
        if (task.result?.state === "fail") await keepPictures(task.name, visitors);
        for (const one of visitors) await one.leave();
        visitors = [];
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function fail(sentence: string): never {
  throw new Error(sentence);
}
