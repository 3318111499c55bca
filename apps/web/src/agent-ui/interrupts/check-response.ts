/** A module of its own: what checks schemas is loaded with the first answer, and no sooner. */
export { checkAnswer, checkEdit } from "@throughline/questions";
