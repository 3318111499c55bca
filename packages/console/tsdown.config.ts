import { defineConfig } from "tsdown";
import { libraryBuild } from "../../tsdown.base.ts";

export default defineConfig({
  ...libraryBuild,
  entry: { index: "src/index.ts", "end-with-parent": "src/end-with-parent.ts" },
});
