import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { root } from "../workspace-packages.mjs";
import { parseEnvironment } from "./environment.mjs";
import { composeFile, NETWORK, SERVICES } from "./topology.mjs";

interface Service {
  readonly environment?: readonly string[];
  readonly ports?: readonly string[];
  readonly networks?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly volumes?: readonly string[];
  readonly restart?: string;
  readonly read_only?: boolean;
  readonly container_name?: string;
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly extends?: { readonly file: string; readonly service: string };
}
interface ComposeFile {
  readonly services: Readonly<Record<string, Service>>;
  readonly networks: Readonly<Record<string, { readonly name: string }>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

const textOf = (variant: "dev" | "prod") => readFileSync(composeFile(variant), "utf8");
const read = (variant: "dev" | "prod"): ComposeFile => parse(textOf(variant), { merge: true });
const example = readFileSync(join(root, ".env.local.example"), "utf8");
/** Of every `${NAME}`, `${NAME:-default}` and `${NAME:?reason}`; `$$` is a dollar. */
const variablesOf = (text: string) =>
  [...text.matchAll(/(?<!\$)\$\{(\w+)(?::([-?])([^}]*))?\}/g)].map(([, name = "", kind, rest = ""]) => ({
    name,
    kind,
    rest,
  }));

const dev = read("dev");
const prod = read("prod");

describe("the development topology", () => {
  it("has the service, its stores, LiteLLM and the console, on one network by name", () => {
    expect(Object.keys(dev.services).sort()).toEqual([...SERVICES].sort());
    for (const service of Object.values(dev.services)) expect(service.networks).toEqual([NETWORK]);
    expect(dev.networks[NETWORK]).toEqual({ name: NETWORK });
    expect(dev.services["langgraph-server"]?.container_name).toBe("langgraph-server");
  });

  it("serves port 8000 of the service on 8123, to this machine alone", () => {
    expect(dev.services["langgraph-server"]?.ports).toEqual(["127.0.0.1:$" + "{LANGGRAPH_PORT:-8123}:8000"]);
    for (const { ports = [] } of Object.values(dev.services)) {
      for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/);
    }
  });

  it("tells the service where everything is, by the names on the network", () => {
    const environment = dev.services["langgraph-server"]?.environment ?? [];
    expect(environment).toContain("LITELLM_BASE_URL=http://litellm:4000");
    expect(environment).toContain("LITELLM_API_KEY=$" + "{LITELLM_MASTER_KEY}");
    expect(environment).toContain("REDIS_URL=redis://redis:6379");
    expect(environment.find((line) => line.startsWith("LANGGRAPH_DATABASE_URL="))).toMatch(
      /^LANGGRAPH_DATABASE_URL=postgresql:\/\/.*@postgres:5432\/langgraph_dev$/,
    );
    expect(dev.services.postgres?.environment).toContain("POSTGRES_DB=langgraph_dev");
  });

  it("starts the service when what it needs is healthy, and asks /health whether it is", () => {
    expect(dev.services["langgraph-server"]?.depends_on).toEqual({
      postgres: { condition: "service_healthy" },
      redis: { condition: "service_healthy" },
      litellm: { condition: "service_healthy" },
    });
    expect(dev.services["langgraph-server"]?.healthcheck?.test.at(-1)).toBe("http://127.0.0.1:8000/health");
    for (const service of Object.values(dev.services)) expect(service.healthcheck?.test).toBeDefined();
  });

  it("restarts what crashes, and keeps data in named volumes", () => {
    for (const service of Object.values(dev.services)) expect(service.restart).toBe("unless-stopped");
    expect(dev.services.postgres?.volumes).toEqual(["postgres-data:/var/lib/postgresql/data"]);
    expect(Object.keys(dev.volumes).sort()).toEqual(["litellm-spend", "postgres-data"]);
  });

  it("builds from Dockerfiles that are there, with the repository as their context", () => {
    for (const { build } of Object.values(dev.services)) {
      if (!build) continue;
      expect(join(composeFile("dev"), "..", build.context)).toBe(root.replace(/\/$/, ""));
      expect(readFileSync(join(root, build.dockerfile), "utf8")).toContain("HEALTHCHECK");
    }
  });
});

describe("the production topology", () => {
  it("is the same without a published port and without a build", () => {
    expect(Object.keys(prod.services).sort()).toEqual([...SERVICES, "langgraph-worker"].sort());
    for (const [name, service] of Object.entries(prod.services)) {
      const { ports, container_name } = service.extends ? (dev.services[name] ?? {}) : service;
      expect({ name, ports, container_name }).toEqual({ name, ports: undefined, container_name: undefined });
      expect(service.build).toBeUndefined();
    }
    const rolesOf = (name: string) =>
      (prod.services[name]?.environment ?? []).find((line) => line.startsWith("THROUGHLINE_ROLES="));
    expect(["langgraph-server", "langgraph-worker"].map(rolesOf)).toEqual([
      "THROUGHLINE_ROLES=api",
      "THROUGHLINE_ROLES=worker,cron",
    ]);
    const withSecrets = prod.services["langgraph-server"]?.environment ?? [];
    expect(withSecrets.some((line) => line.startsWith("THROUGHLINE_JWKS_URL="))).toBe(true);
  });
});

describe("keys of accounts in the production topology", () => {
  const environmentOf = (name: string) => prod.services[name]?.environment ?? [];

  it("gives LiteLLM a database of its own on the same PostgreSQL, which is there before it starts", () => {
    const [, database] =
      environmentOf("litellm")
        .find((line) => line.startsWith("DATABASE_URL="))
        ?.match(/@postgres:5432\/(\w+)$/) ?? [];
    const script = prod.services.postgres?.volumes?.find((volume) =>
      volume.includes("/docker-entrypoint-initdb.d/"),
    );
    const [file = ""] = script?.split(":") ?? [];
    expect(readFileSync(join(composeFile("prod"), "..", file), "utf8")).toContain(
      `CREATE DATABASE ${database};`,
    );
    expect(database).not.toBe("langgraph_dev");
    expect(prod.services.litellm?.depends_on).toEqual({ postgres: { condition: "service_healthy" } });
  });

  it("lets the service make and seal a key for each account", () => {
    for (const name of ["THROUGHLINE_KEY_SECRETS", "THROUGHLINE_MAKE_KEYS", "THROUGHLINE_SYSTEM_ACCOUNTS"]) {
      expect(environmentOf("langgraph-server").find((line) => line.startsWith(`${name}=$`))).toBeDefined();
    }
    const required = variablesOf(textOf("prod")).filter(({ kind }) => kind === "?");
    expect(required.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["THROUGHLINE_KEY_SECRETS", "THROUGHLINE_MAKE_KEYS", "LITELLM_IMAGE"]),
    );
  });

  it("mounts files that are there", () => {
    const files = Object.values(prod.services)
      .flatMap(({ volumes = [] }) => volumes.map((volume) => volume.split(":")[0] ?? ""))
      .filter((file) => file.startsWith("."));
    expect(files.length).toBeGreaterThan(2);
    for (const file of files) expect(existsSync(join(composeFile("prod"), "..", file)), file).toBe(true);
  });
});

describe.each(["dev", "prod"] as const)("%s", (variant) => {
  it("locks down what is ours: no writes, no privileges", () => {
    const { services } = read(variant);
    for (const name of ["langgraph-server", "web"]) {
      expect(services[name]).toMatchObject({ read_only: true, cap_drop: ["ALL"], tmpfs: ["/tmp"] });
    }
  });

  it("has no secret in it: each comes from the environment, and has no default", () => {
    const secrets = variablesOf(textOf(variant)).filter(({ name }) => /KEY|SECRET|PASSWORD/.test(name));
    expect(secrets.length).toBeGreaterThan(3);
    expect(secrets.filter(({ kind, rest }) => kind === "-" && rest !== "")).toEqual([]);
    expect(textOf(variant)).not.toMatch(/(?:KEY|SECRET|PASSWORD)=(?!\$)/);
  });

  it("has no empty default, which podman-compose leaves as it is written", () => {
    expect(variablesOf(textOf(variant)).filter(({ kind, rest }) => kind === "-" && rest === "")).toEqual([]);
  });
});

describe("the example of an environment", () => {
  it("names every variable that the development topology reads, and those of a service without containers", () => {
    const named = new Set([...example.matchAll(/^#?([A-Z][A-Z_]+)=/gm)].map(([, name]) => name));
    const images = ["LANGGRAPH_SERVER_IMAGE", "WEB_IMAGE", "LITELLM_IMAGE"];
    const missing = variablesOf(textOf("dev")).filter(
      ({ name }) => !named.has(name) && !images.includes(name),
    );
    expect(missing).toEqual([]);
    for (const name of [
      "LITELLM_BASE_URL",
      "LITELLM_API_KEY",
      "LANGGRAPH_DATABASE_URL",
      "REDIS_URL",
      "LANGGRAPH_DEV_URL",
      "LANGGRAPH_SERVER_URL",
      "LANGGRAPH_SERVER_API_KEY",
    ]) {
      expect(named).toContain(name);
    }
  });

  it("sets every variable that is read without a default, so that it is there, empty or not", () => {
    const set = parseEnvironment(example);
    const plain = variablesOf(textOf("dev")).filter(({ kind }) => kind !== "-");
    expect(plain.filter(({ name }) => !(name in set))).toEqual([]);
  });
});
