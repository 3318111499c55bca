import { parseArgs } from "node:util";
import { createProject } from "./create-project.js";
import { nextSteps } from "./next-steps.js";

const HELP = `Makes a project with a LangGraph graph, a server for it, and a page.

  npm create throughline [FOLDER]

The folder must be empty or not exist; without one, it is the folder you are in. The graph answers without a key, from an offline model.

Options
  --packages FOLDER   install Throughline from tarballs in this folder instead of the registry
  --help              this text
`;

interface Output {
  readonly cwd: string;
  print(text: string): void;
  complain(text: string): void;
}

const processOutput = (): Output => ({
  cwd: process.cwd(),
  print: (text) => void process.stdout.write(text),
  complain: (text) => void process.stderr.write(text),
});

/** Runs `create-throughline` and returns its exit code: 0 done, 1 failed, 2 called the wrong way. */
export async function runCreate(argv: readonly string[], output: Output = processOutput()): Promise<number> {
  const read = readArguments(argv);
  if (read instanceof Error) {
    output.complain(`${read.message.replace(/\.$/, "")}. See --help.\n`);
    return 2;
  }
  if (read.help) {
    output.print(HELP);
    return 0;
  }
  try {
    const project = createProject({ folder: read.folder, packages: read.packages });
    output.print(nextSteps(project, output.cwd));
    return 0;
  } catch (error) {
    output.complain(`${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  }
}

function readArguments(argv: readonly string[]) {
  try {
    const { values, positionals } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: { packages: { type: "string" }, help: { type: "boolean", short: "h" } },
    });
    if (positionals.length > 1) return new Error(`One folder, not ${positionals.length}`);
    return { folder: positionals[0] ?? ".", packages: values.packages, help: values.help === true };
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
