import { besideCatalog } from "../../server/graphs/beside-catalog.js";
import { counter } from "./counter.js";

/** The six graphs, and one whose answers differ each time. */
export default besideCatalog({ counter });
