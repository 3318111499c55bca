import { Agent, request } from "node:http";

const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });

/**
 * Reads an event stream as cheaply as a client can: a frame is its text, and nothing is parsed that was not asked for.
 *
 * @param {{ url: string, body?: unknown, headers?: Record<string, string> }} what
 * @param {(frame: string) => void} onFrame called with each frame that carries data
 * @returns {{ opened: Promise<void>, ended: Promise<void>, leave: () => void }} `opened`: something was read
 */
export function readSse({ url, body, headers = {} }, onFrame) {
  const text = body === undefined ? undefined : JSON.stringify(body);
  const opened = deferred();
  const ended = deferred();
  let left = false;
  const asked = request(url, {
    agent,
    method: text === undefined ? "GET" : "POST",
    headers: {
      ...headers,
      ...(text !== undefined && {
        "content-type": "application/json",
        "content-length": Buffer.byteLength(text),
      }),
    },
  });
  const fail = (error) => {
    if (left) return ended.resolve();
    opened.reject(error);
    ended.reject(error);
  };
  asked.on("error", fail);
  asked.on("response", (response) => {
    if (response.statusCode !== 200) {
      response.resume();
      const { statusCode: status, headers } = response;
      return fail(
        Object.assign(new Error(`${url} answered ${status}.`), {
          status,
          retryAfter: headers["retry-after"],
        }),
      );
    }
    let rest = "";
    response.setEncoding("utf8");
    response.on("data", (piece) => {
      opened.resolve();
      const frames = (rest + piece).split("\n\n");
      rest = frames.pop();
      for (const frame of frames) if (!frame.startsWith(":")) onFrame(frame);
    });
    response.on("end", ended.resolve);
    response.on("error", fail);
  });
  asked.end(text);
  return {
    opened: opened.promise,
    ended: ended.promise,
    leave() {
      left = true;
      asked.destroy();
    },
  };
}

function deferred() {
  const parts = {};
  parts.promise = new Promise((resolve, reject) => Object.assign(parts, { resolve, reject }));
  // Waiting for the one must not mean waiting for the other.
  parts.promise.catch(() => {});
  return parts;
}
