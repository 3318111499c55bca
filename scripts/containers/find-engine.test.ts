import { describe, expect, it } from "vitest";
import { buildArguments } from "./build-images.mjs";
import { findEngine } from "./find-engine.mjs";

describe("the container engine", () => {
  const found = async (...answering: string[]) =>
    (await findEngine(async (command, args) => answering.includes([command, ...args].join(" "))))?.name;

  it("is Docker where its engine and compose answer, else podman", async () => {
    const docker = ["docker info", "docker compose version"];
    const podman = ["podman info", "podman-compose version"];
    expect(await found(...docker, ...podman)).toBe("docker");
    expect(await found(...podman)).toBe("podman");
  });

  it("is not a Docker client without an engine, and not an engine without compose", async () => {
    expect(await found("docker compose version", "podman info")).toBeUndefined();
    expect(await found("docker info")).toBeUndefined();
  });
});

describe("a build", () => {
  const docker = { name: "docker", compose: ["docker", "compose"] } as const;
  const podman = { name: "podman", compose: ["podman-compose"] } as const;

  it("uses the public base image and registry where nothing else is named", () => {
    const args = buildArguments(docker, "langgraph-server", {});
    expect(args).not.toContain("--build-arg");
    expect(args).not.toContain("--secret");
    expect(args.slice(0, 3)).toEqual(["build", "--tag", "localhost/throughline/langgraph-server:dev"]);
  });

  it("passes on what the environment names, to the images that ask for it", () => {
    const env = {
      NODE_IMAGE: "mirror/node:22",
      PYPI_INDEX: "https://mirror/simple",
      CONTAINER_BUILD_FLAGS: "--pull",
    };
    expect(buildArguments(docker, "web", env)).toContain("NODE_IMAGE=mirror/node:22");
    expect(buildArguments(docker, "web", env)).not.toContain("PYPI_INDEX=https://mirror/simple");
    expect(buildArguments(docker, "litellm", env)).toContain("PYPI_INDEX=https://mirror/simple");
    expect(buildArguments(docker, "web", env)).toContain("--pull");
  });

  it("makes images that can have a health check with podman, too", () => {
    expect(buildArguments(podman, "web", {}).slice(1, 3)).toEqual(["--format", "docker"]);
  });
});
