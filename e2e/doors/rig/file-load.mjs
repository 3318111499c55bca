// node file-load.mjs URL ACCOUNT COUNT MEBIBYTES SECONDS FILE
//
// COUNT clients at once: one half upload a file each, to threads of their own, the other half download FILE; a client that
// is refused comes back after the time given. After SECONDS all leave, wherever they are. A process of its own, so that the load does not slow
// the measuring down.
import { Agent, request } from "node:http";
import { setPriority } from "node:os";
import { setTimeout as pause } from "node:timers/promises";

const [, , url, account, count, mebibytes, seconds, file] = process.argv;
const PIECE = Buffer.alloc(65_536, "load ");
const pieces = Number(mebibytes) * 16;
const agent = new Agent({ keepAlive: false });
let refusals = 0;
let uploads = 0;
let downloads = 0;
let bytesDown = 0;

// Real clients are on machines of their own; these must not take the server's share of this one.
setPriority(10);

/** One request. `send` writes the body; what comes back is counted, or read where it is an answer in JSON. */
function ask(method, path, send) {
  return new Promise((resolve, reject) => {
    const sent = request(`${url}${path}`, {
      method,
      agent,
      headers: {
        "x-throughline-account": account,
        ...(send && { "content-type": "video/mp4", "content-length": pieces * PIECE.length }),
      },
    });
    let hasAnswer = false;
    sent.on("response", (answer) => {
      hasAnswer = true;
      let bytes = 0;
      let text = "";
      const isJson = (answer.headers["content-type"] ?? "").includes("json");
      answer.on("data", (data) => {
        bytes += data.length;
        if (!isJson) bytesDown += data.length;
        if (isJson) text += data;
      });
      answer.on("error", reject);
      answer.on("end", () => resolve({ status: answer.statusCode, headers: answer.headers, bytes, text }));
    });
    // A server that refuses a body may close the connection while it is still being sent.
    sent.on("error", (error) => hasAnswer || reject(error));
    if (send) send(sent);
    else sent.end();
  });
}

function sendFile(sent) {
  let left = pieces;
  const write = () => {
    while (left > 0) {
      left -= 1;
      if (!sent.write(PIECE)) return void sent.once("drain", write);
    }
    sent.end();
  };
  write();
}

async function untilServed(method, path, send) {
  for (;;) {
    const answer = await ask(method, path, send).catch((error) => ({ status: 0, error }));
    if (answer.status >= 200 && answer.status < 300) return answer;
    if (answer.status !== 429 && answer.status !== 0) throw new Error(`${answer.status} ${answer.text}`);
    refusals += 1;
    await pause(1_000 * Number(answer.headers?.["retry-after"] ?? 1) * (0.5 + Math.random()));
  }
}

const startedAt = Date.now();
process.send?.("started");
setTimeout(leave, 1_000 * Number(seconds));
await Promise.all(
  Array.from({ length: Number(count) }, async (_, index) => {
    const path = `/agents/chat/threads/${process.pid}-${index}/attachments`;
    if (index % 2 === 0) {
      await untilServed("POST", path, sendFile);
      uploads += 1;
    } else {
      const { bytes } = await untilServed("GET", file);
      if (bytes !== pieces * PIECE.length) throw new Error(`${bytes} bytes came back`);
      downloads += 1;
    }
  }),
);
leave();

function leave() {
  const report = {
    uploads,
    downloads,
    bytesDown,
    refusals,
    seconds: (Date.now() - startedAt) / 1_000,
  };
  process.stdout.write(JSON.stringify(report), () => process.exit(0));
}
