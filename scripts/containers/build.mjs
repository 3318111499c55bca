// @ts-check
import { readOptions } from "../read-options.mjs";
import { runStep } from "../steps.mjs";
import { buildImage, ownImages } from "./build-images.mjs";
import { readEnvironment } from "./environment.mjs";
import { requireEngine } from "./find-engine.mjs";
import { imageName } from "./topology.mjs";

readOptions(
  [
    "npm run langgraph:build",
    "",
    "Builds the images of the service, the console and LiteLLM, with Docker or podman. From the environment, or .env.local:",
    "  NODE_IMAGE, PYTHON_IMAGE     base images, where not the public ones",
    "  NPM_REGISTRY, PYPI_INDEX     package registries, where not the public ones",
    "  NODE_EXTRA_CA_CERTS          certificates of a proxy that reads TLS",
    "  CONTAINER_BUILD_FLAGS        more flags of docker build or podman build",
  ].join("\n"),
  {},
);
const { env } = readEnvironment();
const engine = await requireEngine().catch((error) => {
  console.error(error.message);
  process.exit(1);
});
for (const service of ownImages) {
  await runStep(
    () => buildImage(engine, service, env),
    () => ({ changed: true, text: `built ${imageName(service, env)}` }),
    { doing: `building ${service} with ${engine.name}` },
  );
}
