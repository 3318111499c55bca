import type { ProjectionRebuilder } from "../streams/rebuild-projection.js";

const unexpected = () => Promise.reject(new Error("The log of this test can be folded."));

/** For views of logs that are whole. */
export const noRebuilder: ProjectionRebuilder = { rebuild: unexpected, completeEntry: unexpected };
