// Loaded into `throughline serve` before anything else, so that the bench can ask the process about itself.
import { answerParent } from "./answer-parent.mjs";

answerParent({});
