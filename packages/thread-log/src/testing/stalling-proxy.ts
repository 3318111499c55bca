import { connect, createServer, type Socket } from "node:net";

export interface StallingProxy {
  /** The address of the server behind it, through the proxy. */
  readonly url: string;
  /**
   * Stops forwarding on every connection there is, without closing it, as a network does that loses its other end. New ones
   * work. `answers`: the server still hears the client.
   */
  stallOpen(which?: "answers" | "all"): void;
  /** While dark, new connections are accepted and stall, too. */
  setDark(dark: boolean): void;
  stop(): Promise<void>;
}

interface Link {
  requests: boolean;
  answers: boolean;
}

/** Stands between a client and a PostgreSQL. */
export async function startStallingProxy(target: string): Promise<StallingProxy> {
  const url = new URL(target);
  const { hostname, port } = url;
  const sockets = new Set<Socket>();
  const links = new Set<Link>();
  let isDark = false;
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    const link: Link = { requests: !isDark, answers: !isDark };
    links.add(link);
    const end = () => {
      links.delete(link);
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on("error", end);
      socket.on("close", () => {
        sockets.delete(socket);
        end();
      });
    }
    client.on("data", (bytes) => {
      if (link.requests) upstream.write(bytes);
    });
    upstream.on("data", (bytes) => {
      if (link.answers) client.write(bytes);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (typeof address !== "object" || !address) throw new Error("The proxy has no port.");
  url.host = `127.0.0.1:${address.port}`;
  const stallOpen = (which: "answers" | "all" = "all") => {
    for (const link of links) {
      link.answers = false;
      if (which === "all") link.requests = false;
    }
  };
  return {
    url: url.href,
    stallOpen,
    setDark(dark) {
      isDark = dark;
      if (dark) stallOpen();
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
