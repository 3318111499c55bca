import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { defineConfig } from "tsdown";
import { libraryBuild } from "../../tsdown.base.ts";

const swaggerUi = dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));

export default defineConfig({
  ...libraryBuild,
  entry: {
    index: "src/index.ts",
    admin: "src/admin.ts",
    settings: "src/settings.ts",
    wire: "src/wire.ts",
  },
  // Copied instead of depended on: its dependency reports every npm install to a third party. The licence asks for the last three.
  copy: [
    "swagger-ui-bundle.js",
    "swagger-ui.css",
    "LICENSE",
    "NOTICE",
    "swagger-ui-bundle.js.LICENSE.txt",
  ].map((file) => ({ from: join(swaggerUi, file), to: "dist/swagger-ui" })),
});
