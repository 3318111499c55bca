// @ts-check
import { readOptions } from "../read-options.mjs";
import { bold, runStep } from "../steps.mjs";
import { buildImage, hasImage, ownImages } from "./build-images.mjs";
import { openCompose } from "./compose.mjs";
import { DEV_ACCOUNT, readEnvironment } from "./environment.mjs";
import { requireEngine } from "./find-engine.mjs";
import { startNative } from "./native/native-process.mjs";
import { signToken } from "./sign-token.mjs";
import { imageName, publishedUrls, SERVICES } from "./topology.mjs";

const { native = false, build = false } = readOptions(
  [
    "npm run langgraph:up",
    "",
    "Starts the whole topology and leaves it running: PostgreSQL, Redis, LiteLLM, the service and the console, in containers",
    "(Docker, else podman). Settings are in .env.local, which the first start makes with secrets of its own.",
    "",
    "  --build    builds the images anew and restarts everything; without it only missing images are built",
    "  --native   the same from local programs, without containers",
    "",
    "npm run langgraph:down stops it.",
  ].join("\n"),
  { native: { type: "boolean" }, build: { type: "boolean" } },
);

const { env, created } = readEnvironment();
if (created) console.log("  Made .env.local, with secrets of its own.");
if (native) await startNative(env);
else await startContainers();

const urls = publishedUrls(env);
const token = signToken({
  secret: env.THROUGHLINE_JWT_SECRET ?? "",
  account: DEV_ACCOUNT,
  now: Date.now(),
});
console.log(`
  Sign in with this token, valid for a day:
  ${token}

  ${bold(urls.console)} is the console, ${bold(urls.service)} the service. npm run langgraph:down stops them.`);

async function startContainers() {
  const engine = await requireEngine().catch((error) => {
    console.error(error.message);
    process.exit(1);
  });
  for (const service of ownImages) {
    if (!build && (await hasImage(engine, service, env))) continue;
    await runStep(
      () => buildImage(engine, service, env),
      () => ({ changed: true, text: `built ${imageName(service, env)}` }),
      { doing: `building ${service} with ${engine.name}` },
    );
  }
  const compose = openCompose(engine, { env });
  // podman-compose would start the containers of the images before.
  if (build && (await compose.containerOf("langgraph-server"))) await compose.down();
  for (const service of SERVICES) {
    await runStep(
      () => compose.start(service),
      () => ({ changed: true, text: `${service} is healthy` }),
      { doing: `starting ${service}` },
    );
  }
}
