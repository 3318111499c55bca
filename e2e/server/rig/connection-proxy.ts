import { connect, createServer, type Socket } from "node:net";

/** Stands between clients and a server, and breaks their connections in the ways networks do. */
export interface ConnectionProxy {
  readonly port: number;
  /** Connections that are open now. */
  readonly open: number;
  /** Where new connections go from now on; those that are open are cut. */
  moveTo(port: number): void;
  /** Cuts connections that are open now: those that `isChosen` picks, or all. */
  cut(isChosen?: () => boolean): void;
  /**
   * Stops forwarding in both directions on connections that are open now (those that `isChosen` picks, or all), and keeps their
   * sockets open; new connections work. The answer lets the frozen ones go on, with all that was sent meanwhile.
   */
  freeze(isChosen?: () => boolean): () => void;
  /**
   * Drops every byte of connections that are open now (those that `isChosen` picks, or all), in both directions, and keeps their
   * sockets open; new connections work. The answer cuts them: what was dropped can't be brought back.
   */
  swallow(isChosen?: () => boolean): () => void;
  stop(): Promise<void>;
}

interface Pair {
  readonly client: Socket;
  readonly upstream: Socket;
  isFrozen: boolean;
  isSwallowed: boolean;
}

/** `target`: a port, or what chooses one for each connection, as a load balancer does. */
export async function startConnectionProxy(target: number | (() => number)): Promise<ConnectionProxy> {
  const pairs = new Set<Pair>();
  let choose = typeof target === "number" ? () => target : target;

  const chosen = (isChosen = () => true) => [...pairs].filter(isChosen);

  const cut = ({ client, upstream }: Pair) => {
    client.destroy();
    upstream.destroy();
  };

  const server = createServer((client) => {
    const pair: Pair = {
      client,
      upstream: connect(choose(), "127.0.0.1"),
      isFrozen: false,
      isSwallowed: false,
    };
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
    forward(pair, client, upstream);
    forward(pair, upstream, client);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (typeof address !== "object" || !address) throw new Error("The proxy has no port.");

  return {
    port: address.port,
    get open() {
      return pairs.size;
    },
    moveTo(port) {
      choose = () => port;
      for (const pair of pairs) cut(pair);
    },
    cut(isChosen) {
      for (const pair of chosen(isChosen)) cut(pair);
    },
    freeze(isChosen) {
      const frozen = chosen(isChosen);
      for (const pair of frozen) {
        pair.isFrozen = true;
        // A socket that is not read does not notice its other end's close either.
        pair.client.pause();
        pair.upstream.pause();
      }
      return () => {
        for (const pair of frozen) {
          pair.isFrozen = false;
          pair.client.resume();
          pair.upstream.resume();
        }
      };
    },
    swallow(isChosen) {
      const swallowed = chosen(isChosen);
      for (const pair of swallowed) pair.isSwallowed = true;
      return () => {
        for (const pair of swallowed) cut(pair);
      };
    },
    async stop() {
      for (const pair of pairs) cut(pair);
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A reader that is slow slows its sender down: without that, the proxy would hold what a slow reader has not read. */
function forward(pair: Pair, from: Socket, to: Socket): void {
  from.on("data", (bytes) => {
    if (pair.isSwallowed || to.write(bytes)) return;
    from.pause();
    to.once("drain", () => {
      if (!pair.isFrozen) from.resume();
    });
  });
}
