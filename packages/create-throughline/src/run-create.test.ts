import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { runCreate } from "./run-create.js";

function recorded(cwd: string) {
  const said = { printed: "", complained: "" };
  return {
    said,
    output: {
      cwd,
      print(text: string) {
        said.printed += text;
      },
      complain(text: string) {
        said.complained += text;
      },
    },
  };
}

it("makes the project and says what to type next; a second time it refuses", async () => {
  const folder = mkdtempSync(join(tmpdir(), "create-throughline-"));
  try {
    const project = join(folder, "agent");
    const first = recorded(folder);
    expect(await runCreate([project], first.output)).toBe(0);
    expect(first.said.printed).toContain("  cd agent\n  npm install\n  npm start");
    const second = recorded(folder);
    expect(await runCreate([project], second.output)).toBe(1);
    expect(second.said.complained).toContain("is not empty.");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

it.each([[["a", "b"]], [["--what"]]])("refuses %j with code 2 and points to --help", async (argv) => {
  const { said, output } = recorded("/");
  expect(await runCreate(argv, output)).toBe(2);
  expect(said.complained).toMatch(/\. See --help\.\n$/);
});
