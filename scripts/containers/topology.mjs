// @ts-check
import { join } from "node:path";
import { root } from "../workspace-packages.mjs";

/** The name that groups the containers, volumes and labels of one topology. */
export const PROJECT = "throughline";

/** The network of the compose files, on which services find each other by name. */
export const NETWORK = "cogni-edge";

export const RUNTIME_FOLDER = join(root, "platform", "infra", "services", "runtime");

/** @param {"dev" | "prod"} variant */
export const composeFile = (variant) => join(RUNTIME_FOLDER, `docker-compose.${variant}.yml`);

/** In the order in which they are started: each needs those before it. */
export const SERVICES = Object.freeze(["postgres", "redis", "litellm", "langgraph-server", "web"]);

/** The services whose images this repository builds, with the variable that names another image. */
export const OWN_IMAGES = Object.freeze({
  "langgraph-server": { variable: "LANGGRAPH_SERVER_IMAGE", base: "NODE_IMAGE", registry: "NPM_REGISTRY" },
  web: { variable: "WEB_IMAGE", base: "NODE_IMAGE", registry: "NPM_REGISTRY" },
  litellm: { variable: "LITELLM_IMAGE", base: "PYTHON_IMAGE", registry: "PYPI_INDEX" },
});

/** @typedef {keyof typeof OWN_IMAGES} OwnImage */

/**
 * @param {OwnImage} service
 * @param {NodeJS.ProcessEnv} env
 */
export function imageName(service, env) {
  return env[OWN_IMAGES[service].variable] || `localhost/throughline/${service}:dev`;
}

/** @param {NodeJS.ProcessEnv} env */
export function publishedUrls(env) {
  return {
    service: `http://127.0.0.1:${env.LANGGRAPH_PORT || 8123}`,
    console: `http://127.0.0.1:${env.WEB_PORT || 3000}`,
  };
}
