import { besideCatalog } from "../../server/graphs/beside-catalog.js";
import { talker } from "../../server/graphs/talker.js";
import { errand } from "./errand.js";

/** The six graphs, one that talks as long as it is told to, and one that needs its page. */
export default besideCatalog({ talker, errand });
