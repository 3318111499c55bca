import { besideCatalog } from "../../server/graphs/beside-catalog.js";
import { asker } from "./asker.js";

/** The six graphs, and one that asks what it is told to. */
export default besideCatalog({ asker });
