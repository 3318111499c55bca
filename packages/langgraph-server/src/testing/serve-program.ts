import { runCli } from "../cli/run-cli.js";

/** `throughline serve` as a process of its own; its arguments follow. */
const code = await runCli(["serve", ...process.argv.slice(2)], {
  onServing: async ({ url }) => {
    process.send?.({ url });
    return "";
  },
});
process.exit(code);
