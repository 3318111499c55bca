import { pair } from "../../server/graphs/askers.js";
import { besideCatalog } from "../../server/graphs/beside-catalog.js";
import { talker } from "../../server/graphs/talker.js";

/** The six graphs, one that says what it is told to, and one that asks two things at once. */
export default besideCatalog({ talker, pair });
