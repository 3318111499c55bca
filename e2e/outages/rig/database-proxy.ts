import { connect, createServer, type Socket } from "node:net";

/** Stands between one instance and its database. */
export interface DatabaseProxy {
  readonly port: number;
  /** Where new connections go from now on; those that are open are cut. */
  moveTo(port: number): void;
  /**
   * Stops forwarding in both directions on all connections that are open now, and keeps their sockets open; new connections
   * work. The answer lets the frozen ones go on, with all that was sent meanwhile.
   */
  freeze(): () => void;
  stop(): Promise<void>;
}

interface Pair {
  readonly client: Socket;
  readonly upstream: Socket;
}

export async function startDatabaseProxy(targetPort: number): Promise<DatabaseProxy> {
  const pairs = new Set<Pair>();
  let target = targetPort;

  const cut = ({ client, upstream }: Pair) => {
    client.destroy();
    upstream.destroy();
  };

  const server = createServer((client) => {
    const pair: Pair = { client, upstream: connect(target, "127.0.0.1") };
    const { upstream } = pair;
    pairs.add(pair);
    for (const socket of [client, upstream]) {
      socket.setNoDelay(true);
      socket.on("error", () => cut(pair));
      socket.on("close", () => {
        pairs.delete(pair);
        cut(pair);
      });
    }
    client.on("data", (bytes) => void upstream.write(bytes));
    upstream.on("data", (bytes) => void client.write(bytes));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (typeof address !== "object" || !address) throw new Error("The proxy has no port.");

  return {
    port: address.port,
    moveTo(port) {
      target = port;
      for (const pair of pairs) cut(pair);
    },
    freeze() {
      const frozen = [...pairs].flatMap(({ client, upstream }) => [client, upstream]);
      // A socket that is not read does not notice its other end's close either.
      for (const socket of frozen) socket.pause();
      return () => {
        for (const socket of frozen) socket.resume();
      };
    },
    async stop() {
      for (const pair of pairs) cut(pair);
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
