import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const PACKAGE = fileURLToPath(new URL("../..", import.meta.url));

/** Vitest imports modules its own way, so the project is edited and read in a process where Node does it. */
const PROGRAM = `
  import { writeFileSync } from "node:fs";
  import { join } from "node:path";
  import { loadProjectGraphs } from ${JSON.stringify(new URL("./project-graphs.ts", import.meta.url).href)};

  const [folder, type] = process.argv.slice(-2);
  const write = (file, text) => writeFileSync(join(folder, file), text);
  const configure = (EDITED) =>
    write("langgraph.json", JSON.stringify({ graphs: { edited: "./graph.ts:graph" }, env: { EDITED } }));
  const said = [];
  async function say(again) {
    try {
      const graphs = await loadProjectGraphs(join(folder, "langgraph.json"), { again });
      const graph = await graphs.open("edited", { configurable: {} });
      said.push((await graph.invoke({ messages: [] })).messages.at(-1).content);
    } catch (error) {
      said.push(error.message);
    }
  }

  write("package.json", JSON.stringify({ type }));
  configure("1");
  write("word.ts", 'export const word: string = "first";');
  write(
    "graph.ts",
    \`import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
     import { word } from "./word.js";
     const say = () => ({ messages: [{ role: "assistant", content: word + process.env.EDITED }] });
     export const graph = new StateGraph(MessagesAnnotation).addNode("say", say).addEdge(START, "say");\`,
  );
  await say(false);
  write("word.ts", 'export const word: string = "second";');
  await say(false);
  await say(true);
  write("word.ts", "export const word: string = ;");
  await say(true);
  write("word.ts", 'export const word: string = "third";');
  configure("2");
  await say(true);
  console.log(JSON.stringify(said));
`;

it.each(["module", "commonjs"])(
  "reads an edited project again with what its files import, as %s",
  async (type) => {
    // Below this package, where a project finds its dependencies.
    const folder = mkdtempSync(join(PACKAGE, "fixtures", "edited-project-"));
    try {
      const args = ["--import", "tsx", "--input-type=module", "-e", PROGRAM, "--", folder, type];
      const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: PACKAGE });
      expect(JSON.parse(stdout)).toEqual([
        "first1",
        "first1",
        "second1",
        expect.stringContaining("graph.ts: could not be imported"),
        "third2",
      ]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
