export { addressOf, reachableUrl } from "./address.js";
export { consolePort } from "./console-port.js";
export {
  type ConsoleOptions,
  type ConsoleProgram,
  type RunningConsole,
  startConsole,
} from "./start-console.js";
