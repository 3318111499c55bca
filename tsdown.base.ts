import type { UserConfig } from "tsdown";

/** What every package builds alike: one ESM entry, its types, nothing bundled from node_modules. */
export const libraryBuild: UserConfig = {
  entry: ["src/index.ts"],
  format: "esm",
  platform: "node",
  target: "node20",
  dts: true,
  sourcemap: true,
  clean: true,
  fixedExtension: false,
};
