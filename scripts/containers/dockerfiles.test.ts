import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../workspace-packages.mjs";
import { ownImages } from "./build-images.mjs";
import { OWN_IMAGES, RUNTIME_FOLDER } from "./topology.mjs";

const PUBLIC_HOSTS = ["docker.io", "registry.npmjs.org", "pypi.org", "127.0.0.1"];

describe.each(ownImages)("the Dockerfile of %s", (service) => {
  const text = readFileSync(join(RUNTIME_FOLDER, service, "Dockerfile"), "utf8");
  const stages = text.split(/^FROM /m).slice(1);
  const last = stages.at(-1) ?? "";

  it("builds in stages on a base that is an argument, by default a public image with a fixed version", () => {
    const { base } = OWN_IMAGES[service];
    expect(stages.length).toBeGreaterThan(1);
    expect(last).toMatch(new RegExp(`^\\$\\{${base}\\}\\n`));
    expect(text).toMatch(new RegExp(`^ARG ${base}=docker\\.io/library/\\w+:\\d[\\w.-]+$`, "m"));
  });

  it("takes its package registry as an argument, and names public hosts only", () => {
    expect(text).toMatch(new RegExp(`^ARG ${OWN_IMAGES[service].registry}=https://`, "m"));
    const hosts = [...text.matchAll(/https?:\/\/([\w.-]+)|\b(docker\.io)\//g)].map(([, a, b]) => a ?? b);
    expect(hosts.filter((host) => host === undefined || !PUBLIC_HOSTS.includes(host))).toEqual([]);
  });

  it("ends as a user by number that is not root, with a health check and a signal to stop", () => {
    expect(last).toMatch(/^USER 10001:10001$/m);
    expect(last).toMatch(/^HEALTHCHECK /m);
    expect(last).toMatch(/^STOPSIGNAL SIGTERM$/m);
  });

  it("installs by the lock alone, without scripts of packages", () => {
    expect(text).toMatch(/--frozen-lockfile --ignore-scripts|--require-hashes/);
    expect(last).not.toMatch(/npm |pnpm |pip |apt-get/);
  });
});

it("Only what images are built from reaches the builder", () => {
  const lines = readFileSync(join(root, ".dockerignore"), "utf8").split("\n");
  const rules = lines.filter((line) => line !== "" && !line.startsWith("#"));
  expect(rules[0]).toBe("*");
  for (const kept of ["**/node_modules", "**/.env*", "**/dist", "**/.throughline"])
    expect(rules).toContain(kept);
});
