import { connect, createServer, type Socket } from "node:net";

export interface ProxiedConnection {
  /** What becomes of a piece of the request: it passes, or both ends are cut off before it does. */
  onRequest?(bytes: Buffer): "pass" | "cut";
  /** What becomes of a piece of the answer: it passes, vanishes, or passes in part before both ends are cut off. */
  onAnswer?(bytes: Buffer): "pass" | "swallow" | { readonly cutAfter: number };
}

export interface TcpProxy {
  readonly url: string;
  /** Connections that were cut off so far. */
  readonly cuts: number;
  stop(): Promise<void>;
}

/** Stands between a client and a server and breaks connections, as networks do: without a word, in the middle of one. */
export async function startTcpProxy(target: string, open: () => ProxiedConnection): Promise<TcpProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let cuts = 0;
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    const { onRequest, onAnswer } = open();
    const end = () => {
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
      if (onRequest?.(bytes) !== "cut") return void upstream.write(bytes);
      cuts++;
      end();
    });
    upstream.on("data", (bytes) => {
      const fate = onAnswer?.(bytes) ?? "pass";
      if (fate === "swallow") return;
      if (fate === "pass") return void client.write(bytes);
      cuts++;
      client.write(bytes.subarray(0, fate.cutAfter), end);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (typeof address !== "object" || !address) throw new Error("The proxy has no port.");
  return {
    url: `http://127.0.0.1:${address.port}`,
    get cuts() {
      return cuts;
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
