import { defineConfig } from "tsdown";
import { libraryBuild } from "../../tsdown.base.ts";

export default defineConfig(libraryBuild);
