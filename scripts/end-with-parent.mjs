// @ts-check
// Loaded into a process of ours before anything else: however whoever started it ended, it is not left behind.
process.on("disconnect", () => process.exit(0));
