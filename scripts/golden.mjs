// @ts-check
// npm run golden [-- --update]: compares every recorded stream with its golden translation, or writes the goldens anew.
import { readOptions } from "./read-options.mjs";
import { runCommand } from "./run-command.mjs";
import { ensureReady } from "./workspace.mjs";
import { commandScript, root } from "./workspace-packages.mjs";

const { update } = readOptions(
  [
    "npm run golden [-- --update]",
    "",
    "Translates the recorded streams of packages/stream-adapter/fixtures and compares the result with the goldens there, and",
    "what a terminal shows of them with packages/cli/fixtures/transcripts.",
    "",
    "  --update  write the goldens anew; read the diff before you commit it",
  ].join("\n"),
  { update: { type: "boolean" } },
);

await ensureReady({ forTests: true });
try {
  await runCommand(
    process.execPath,
    [
      commandScript("vitest"),
      "run",
      "packages/stream-adapter/src/goldens.test.ts",
      "packages/cli/src/transcript/goldens.test.ts",
    ],
    { cwd: root, stream: true, env: { ...process.env, ...(update && { THROUGHLINE_UPDATE_GOLDENS: "1" }) } },
  );
} catch {
  // Vitest has shown what differs.
  process.exitCode = 1;
}
