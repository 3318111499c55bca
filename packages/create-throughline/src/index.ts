export { type CreatedProject, type CreateOptions, createProject, NotEmptyFolder } from "./create-project.js";
export { nextSteps } from "./next-steps.js";
export { runCreate } from "./run-create.js";
