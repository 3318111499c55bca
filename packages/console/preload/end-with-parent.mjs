// Loaded into the console's process before anything else: it ends when the process that started it is gone.
process.on("disconnect", () => process.exit(0));
