import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Validator } from "@cfworker/json-schema";
import { describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { root } from "../workspace-packages.mjs";
import schemas from "./fixtures/kubernetes-1.37.json" with { type: "json" };

const FOLDER = join(root, "platform", "infra", "kubernetes", "base");

interface Container {
  readonly readinessProbe: { readonly httpGet: { readonly path: string } };
  readonly livenessProbe: { readonly httpGet: { readonly path: string } };
  readonly lifecycle?: { readonly preStop: { readonly sleep: { readonly seconds: number } } };
  readonly securityContext: object;
}
interface Pod {
  readonly terminationGracePeriodSeconds?: number;
  readonly securityContext: object;
  readonly containers: readonly Container[];
}
interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec?: { readonly template?: { readonly spec: Pod } };
}

const manifests = readdirSync(FOLDER)
  .filter((file) => file !== "kustomization.yaml")
  .flatMap((file) => parseAllDocuments(readFileSync(join(FOLDER, file), "utf8")))
  .map((document): Manifest => document.toJS());

/** As `kubeconform -strict`: with unknown fields refused. */
function problemsOf(manifest: Manifest): string[] {
  const kind = Object.entries(schemas.kinds).find(
    ([name]) => name === `${manifest.apiVersion}/${manifest.kind}`,
  );
  if (!kind) return [`${manifest.kind}: its schema is not here`];
  const { errors } = new Validator({ ...kind[1], $defs: schemas.$defs }, "2019-09", false).validate(manifest);
  return errors.map(({ instanceLocation, error }) => `${instanceLocation}: ${error}`);
}

describe("the Kubernetes base", () => {
  it("fits the API's schema, unknown fields refused", () => {
    for (const manifest of manifests) expect(problemsOf(manifest)).toEqual([]);
    const misspelt = { replica: 2 };
    for (const manifest of manifests.filter(({ kind }) => kind === "Deployment")) {
      expect(problemsOf({ ...manifest, spec: { ...manifest.spec, ...misspelt } })).not.toEqual([]);
    }
  });

  it("names every file of its folder in the kustomization", () => {
    const { resources } = parse(readFileSync(join(FOLDER, "kustomization.yaml"), "utf8"));
    const files = readdirSync(FOLDER).filter((file) => file !== "kustomization.yaml");
    expect([...resources].sort()).toEqual(files.sort());
  });

  it("has a service and a disruption budget for each deployment, and no cron job", () => {
    const names = (kind: string) =>
      manifests.filter((each) => each.kind === kind).map((each) => each.metadata.name);
    expect(names("CronJob")).toEqual([]);
    expect(names("Deployment").sort()).toEqual(["langgraph-server", "web"]);
    expect(names("Service").sort()).toEqual(["langgraph-server", "web"]);
    expect(names("PodDisruptionBudget").sort()).toEqual(["langgraph-server", "web"]);
  });

  it("asks /ready before it sends requests and /health before it restarts, and waits for a drain", () => {
    const pod = podOf("langgraph-server");
    const [container] = pod?.containers ?? [];
    expect(container?.readinessProbe.httpGet.path).toBe("/ready");
    expect(container?.livenessProbe.httpGet.path).toBe("/health");
    // preStop, the drain of 10 s, and 10 s to hand runs over.
    const needed = (container?.lifecycle?.preStop.sleep.seconds ?? 0) + 20;
    expect(pod?.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(needed);
  });

  it("runs every container locked down", () => {
    for (const pod of ["langgraph-server", "web"].map(podOf)) {
      expect(pod?.securityContext).toMatchObject({
        runAsNonRoot: true,
        seccompProfile: { type: "RuntimeDefault" },
      });
      expect(pod?.containers.map(({ securityContext }) => securityContext)).toEqual([
        {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ["ALL"] },
        },
      ]);
    }
  });
});

function podOf(deployment: string): Pod | undefined {
  const found = manifests.find(({ kind, metadata }) => kind === "Deployment" && metadata.name === deployment);
  return found?.spec?.template?.spec;
}
