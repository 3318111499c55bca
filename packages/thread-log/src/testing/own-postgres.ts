import { startEmbeddedPostgres } from "@throughline/embedded-postgres";
import { killProcess } from "../../../embedded-postgres/src/testing/kill-process.js";
import { makeTempFolder } from "../../../embedded-postgres/src/testing/temp-folder.js";

/** A server that a test may kill and start again. */
export interface OwnServer {
  /** Changes when a restart had to take another port. */
  readonly url: string;
  readonly pid: number;
  kill(): Promise<void>;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export async function launchOwnPostgres(): Promise<OwnServer> {
  const folder = makeTempFolder();
  let server = await startEmbeddedPostgres({ dataDir: folder.path });
  return {
    get url() {
      return server.url;
    },
    get pid() {
      return server.pid;
    },
    kill: async () => {
      await killProcess(server.pid);
      // What uses an embedded server starts it again: this one stays away until it is wanted.
      await server.stop();
    },
    restart: async () => {
      server = await startEmbeddedPostgres({ dataDir: folder.path });
    },
    stop: async () => {
      await server.stop();
      folder.remove();
    },
  };
}
