import { defineConfig } from "tsdown";
import { modularBuild } from "../../tsdown.base.ts";

export default defineConfig(modularBuild);
