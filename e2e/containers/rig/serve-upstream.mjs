// @ts-check
// The tests' own provider as a container: it listens on loopback alone, so connections from outside are passed on to it.
import { connect, createServer } from "node:net";
import { startOpenAiUpstream } from "../../../scripts/openai-upstream.mjs";

const PORT = 8_080;

const upstream = await startOpenAiUpstream();
const target = Number(new URL(upstream.url).port);
createServer((socket) => {
  const onward = connect(target, "127.0.0.1");
  socket.on("error", () => onward.destroy());
  onward.on("error", () => socket.destroy());
  socket.pipe(onward).pipe(socket);
}).listen(PORT);
process.once("SIGTERM", () => process.exit(0));
