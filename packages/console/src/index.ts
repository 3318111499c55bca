export { reachableUrl } from "./address.js";
export {
  type ConsoleOptions,
  type ConsoleProgram,
  type RunningConsole,
  startConsole,
} from "./start-console.js";
