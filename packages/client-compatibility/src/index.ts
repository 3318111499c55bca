export type { ClientCompatibilityOptions, WrappableAgent } from "./with-client-compatibility.js";
export { withClientCompatibility } from "./with-client-compatibility.js";
