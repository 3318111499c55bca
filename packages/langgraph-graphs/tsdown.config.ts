import { defineConfig } from "tsdown";
import { libraryBuild } from "../../tsdown.base.ts";

export default defineConfig({
  ...libraryBuild,
  entry: { index: "src/index.ts", serve: "src/serve.ts" },
});
