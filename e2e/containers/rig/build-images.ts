import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { buildImage, hasImage, ownImages } from "../../../scripts/containers/build-images.mjs";
import { imageName, OWN_IMAGES } from "../../../scripts/containers/topology.mjs";
import { type Machine, prepareMachine } from "./prepare-machine.js";

const run = promisify(execFile);
const REPOSITORY = "localhost/throughline-e2e";
const ROOT = join(import.meta.dirname, "..", "..", "..");

/** Builds the images from a clean clone of the last commit, once a commit. What is not committed is not in them. */
export async function buildImages(): Promise<Machine> {
  const { engine, env: machine } = await prepareMachine();
  const commit = (await run("git", ["-C", ROOT, "rev-parse", "--short", "HEAD"])).stdout.trim();
  const named = ownImages.map((service) => [
    OWN_IMAGES[service].variable,
    `${REPOSITORY}/${service}:${commit}`,
  ]);
  const env = { ...machine, ...Object.fromEntries(named) };
  const whole = { ...process.env, ...env };
  const clone = mkdtempSync(join(tmpdir(), "throughline-clone-"));
  try {
    await run("git", ["clone", "--quiet", ROOT, clone]);
    for (const service of ownImages) {
      if (await hasImage(engine, service, whole)) continue;
      const started = performance.now();
      await buildImage(engine, service, whole, clone);
      console.log(
        `built ${imageName(service, whole)} in ${Math.round((performance.now() - started) / 1_000)} s`,
      );
    }
  } finally {
    rmSync(clone, { recursive: true, force: true });
  }
  await deleteOthers(engine.name, whole, commit);
  return { engine, env };
}

/** Deletes the images of earlier commits, after the build that may use their layers. */
async function deleteOthers(engine: string, env: NodeJS.ProcessEnv, commit: string): Promise<void> {
  const { stdout } = await run(engine, ["images", "--format", "{{.Repository}}:{{.Tag}}"], { env });
  const others = stdout
    .split("\n")
    .filter((name) => name.startsWith(`${REPOSITORY}/`) && !name.endsWith(`:${commit}`));
  if (others.length > 0) await run(engine, ["rmi", ...others], { env });
}
