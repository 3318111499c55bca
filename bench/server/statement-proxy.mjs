import { connect, createServer } from "node:net";

/**
 * @typedef {{ at: bigint, application: string, text: string }} Statement `at`: nanoseconds of the machine's own clock
 */

/**
 * Stands between a server and its PostgreSQL and notes each statement that is executed, by the connection's name.
 *
 * @param {string} databaseUrl
 * @returns {Promise<{ url: string, statements: Statement[], stop(): void }>}
 */
export async function startStatementProxy(databaseUrl) {
  const target = new URL(databaseUrl);
  /** @type {Statement[]} */
  const statements = [];
  const sockets = new Set();
  const proxy = createServer((client) => {
    const server = connect(Number(target.port), target.hostname);
    const read = statementReader((application, text) =>
      statements.push({ at: process.hrtime.bigint(), application, text }),
    );
    client.on("data", read);
    client.pipe(server);
    server.pipe(client);
    for (const [own, other] of [
      [client, server],
      [server, client],
    ]) {
      sockets.add(own);
      own.on("error", () => other.destroy());
      own.on("close", () => other.destroy());
    }
  });
  await new Promise((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const url = new URL(databaseUrl);
  url.port = String(proxy.address().port);
  return {
    url: url.href,
    statements,
    stop() {
      proxy.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Reads the messages of a client: a startup without a type, then a type, a length and a body each. */
function statementReader(onStatement) {
  let rest = Buffer.alloc(0);
  let application;
  const prepared = new Map();
  const bound = new Map();

  function message(type, body) {
    switch (type) {
      case "Q":
        return onStatement(application, textAt(body, 0));
      case "P": {
        const name = textAt(body, 0);
        return prepared.set(name, textAt(body, Buffer.byteLength(name) + 1));
      }
      case "B": {
        const portal = textAt(body, 0);
        return bound.set(portal, prepared.get(textAt(body, Buffer.byteLength(portal) + 1)));
      }
      case "E":
        return onStatement(application, bound.get(textAt(body, 0)) ?? "");
    }
  }

  return (piece) => {
    rest = Buffer.concat([rest, piece]);
    for (;;) {
      const header = application === undefined ? 0 : 1;
      if (rest.length < header + 4) return;
      const end = header + rest.readInt32BE(header);
      if (rest.length < end) return;
      const body = rest.subarray(header + 4, end);
      if (header === 0) application = startupName(body);
      else message(String.fromCharCode(rest[0]), body);
      rest = rest.subarray(end);
    }
  };
}

function startupName(body) {
  const words = body.subarray(4).toString().split("\0");
  return words[words.indexOf("application_name") + 1] ?? "";
}

function textAt(body, start) {
  return body.toString("utf8", start, body.indexOf(0, start));
}
