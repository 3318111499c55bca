import { defineConfig } from "tsdown";
import { libraryBuild } from "../../tsdown.base.ts";

export default defineConfig({
  ...libraryBuild,
  // Loaded by its address, as a thread of its own.
  copy: [{ from: "src/postgres/registry/heartbeat-worker.mjs", to: "dist" }],
});
