import { careful, nest, pair } from "./askers.js";
import { besideCatalog } from "./beside-catalog.js";
import { talker } from "./talker.js";

/** The six graphs, and those that do what a test says. */
export default besideCatalog({ talker, pair, nest, careful });
