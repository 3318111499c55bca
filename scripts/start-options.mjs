// @ts-check

/**
 * @typedef {object} StartOptions
 * @property {boolean} isConsoleWanted
 * @property {number | undefined} consolePort
 * @property {string[]} forService what `throughline serve` is to read
 * @property {string} host where the console listens: where the service does
 */

const LOOPBACK = "127.0.0.1";

/**
 * Takes what is the console's out of the flags; the service reads the rest, and refuses what it does not know.
 *
 * @param {readonly string[]} flags
 * @param {NodeJS.ProcessEnv} env
 * @returns {StartOptions}
 */
export function readStartOptions(flags, env) {
  /** @type {string[]} */
  const forService = [];
  let isConsoleWanted = true;
  let port = env.THROUGHLINE_CONSOLE_PORT || undefined;
  let host = env.THROUGHLINE_HOST || LOOPBACK;
  for (let at = 0; at < flags.length; at += 1) {
    const flag = flags[at] ?? "";
    const [name, inline] = splitFlag(flag);
    if (name === "--no-console") isConsoleWanted = false;
    else if (name === "--console-port") port = inline ?? flags[++at] ?? "";
    else {
      if (name === "--host") host = inline ?? flags[at + 1] ?? host;
      forService.push(flag);
    }
  }
  return { isConsoleWanted, consolePort: port === undefined ? undefined : readPort(port), forService, host };
}

/**
 * @param {string} flag
 * @returns {[name: string, inline: string | undefined]}
 */
function splitFlag(flag) {
  const at = flag.indexOf("=");
  return at < 0 ? [flag, undefined] : [flag.slice(0, at), flag.slice(at + 1)];
}

/** @param {string} text */
function readPort(text) {
  const port = Number(text);
  if (text.trim() !== "" && Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new Error(`"${text}" is no port. --console-port and THROUGHLINE_CONSOLE_PORT take 0 to 65535.`);
}
