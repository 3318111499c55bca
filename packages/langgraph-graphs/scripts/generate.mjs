// Writes langgraph.json from the catalogue of the built package.
import { writeFileSync } from "node:fs";
import { renderLanggraphJson } from "../dist/index.js";

writeFileSync(new URL("../langgraph.json", import.meta.url), renderLanggraphJson());
