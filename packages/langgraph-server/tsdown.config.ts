import { defineConfig } from "tsdown";
import { libraryBuild } from "../../tsdown.base.ts";

export default defineConfig({
  ...libraryBuild,
  entry: {
    index: "src/index.ts",
    admin: "src/admin.ts",
    settings: "src/settings.ts",
    wire: "src/wire.ts",
  },
});
