// @ts-check
import { parseArgs } from "node:util";

/**
 * Reads a script's own options. `--help` prints `usage` and ends with 0; anything unknown is one line and ends with 2.
 *
 * @template {NonNullable<import("node:util").ParseArgsConfig["options"]>} Options
 * @param {string} usage
 * @param {Options} options
 * @returns {ReturnType<typeof parseArgs<{ options: Options }>>["values"]}
 */
export function readOptions(usage, options) {
  try {
    const args = process.argv.slice(2);
    if (args.includes("--help") || args.includes("-h")) {
      console.log(usage);
      process.exit(0);
    }
    return parseArgs({ args, options }).values;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return refuseOption(message.split(/\. |\n/)[0] ?? message);
  }
}

/**
 * @param {string} message
 * @returns {never}
 */
export function refuseOption(message) {
  console.error(`${message}. See --help.`);
  process.exit(2);
}
