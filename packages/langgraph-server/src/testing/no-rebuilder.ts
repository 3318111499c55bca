import type { FoldRebuilder } from "../streams/rebuild-projection.js";

const unexpected = () => Promise.reject(new Error("The log of this test can be folded."));

/** For views of logs that are whole. */
export const noRebuilder: FoldRebuilder = { rebuild: unexpected, completeEntry: unexpected };
