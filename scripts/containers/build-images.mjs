// @ts-check
import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import { runCommand } from "../run-command.mjs";
import { root } from "../workspace-packages.mjs";
import { imageName, OWN_IMAGES, RUNTIME_FOLDER } from "./topology.mjs";

/**
 * @typedef {import("./find-engine.mjs").ContainerEngine} ContainerEngine
 * @typedef {import("./topology.mjs").OwnImage} OwnImage
 */

/**
 * The arguments that build one image. Base image, package registry and the certificates of a proxy in between come from the
 * environment; without them the public ones are used.
 *
 * @param {ContainerEngine} engine
 * @param {OwnImage} service
 * @param {NodeJS.ProcessEnv} env
 * @param {string} [folder] a clone of this repository
 * @returns {string[]}
 */
export function buildArguments({ name }, service, env, folder = root) {
  const { base, registry } = OWN_IMAGES[service];
  const given = [base, registry].flatMap((variable) =>
    env[variable] ? ["--build-arg", `${variable}=${env[variable]}`] : [],
  );
  const certificates = env.NODE_EXTRA_CA_CERTS;
  return [
    "build",
    // Only this format of image has a health check.
    ...(name === "podman" ? ["--format", "docker"] : []),
    ...given,
    ...(certificates && existsSync(certificates) ? ["--secret", `id=ca,src=${certificates}`] : []),
    ...(env.CONTAINER_BUILD_FLAGS ? env.CONTAINER_BUILD_FLAGS.split(" ") : []),
    "--tag",
    imageName(service, env),
    "--file",
    join(folder, relative(root, RUNTIME_FOLDER), service, "Dockerfile"),
    folder,
  ];
}

/**
 * @param {ContainerEngine} engine
 * @param {OwnImage} service
 * @param {NodeJS.ProcessEnv} env
 * @param {string} [folder] a clone of this repository
 */
export async function buildImage(engine, service, env, folder) {
  await runCommand(engine.name, buildArguments(engine, service, env, folder), { cwd: root, env });
}

/**
 * @param {ContainerEngine} engine
 * @param {OwnImage} service
 * @param {NodeJS.ProcessEnv} env
 */
export async function hasImage(engine, service, env) {
  const found = await runCommand(engine.name, ["images", "--quiet", imageName(service, env)], {
    cwd: root,
    env,
  });
  return found.trim() !== "";
}

export const ownImages = /** @type {OwnImage[]} */ (Object.keys(OWN_IMAGES));
