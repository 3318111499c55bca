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

/** For packages that a browser may import: one file per module, so that a page's bundle takes only the modules it uses. */
export const modularBuild: UserConfig = { ...libraryBuild, unbundle: true };
