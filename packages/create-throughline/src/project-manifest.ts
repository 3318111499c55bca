interface ManifestOptions {
  /** The template's `package.json`. */
  readonly template: string;
  readonly name: string;
  /** The version of our packages, which are released together. */
  readonly version: string;
  /** Addresses by package name, to install from files. */
  readonly tarballs: ReadonlyMap<string, string> | undefined;
}

type Dependencies = Readonly<Record<string, string>>;

/**
 * The project's `package.json`, and what is added to its `pnpm-workspace.yaml`. From files, all our packages are dependencies of
 * the project itself: npm then resolves the packages' dependencies on each other to those, and pnpm does so by overrides.
 */
export function projectManifest({ template, name, version, tarballs }: ManifestOptions): {
  readonly manifest: string;
  readonly pnpm: string;
} {
  // The template is ours, and a test reads it.
  const read = JSON.parse(template) as { dependencies: Dependencies };
  const dependencies = { ...read.dependencies, ...(tarballs && Object.fromEntries(tarballs)) };
  const pinned = Object.keys(dependencies)
    .sort()
    .map((dependency) => {
      const isOurs = dependency.startsWith("@throughline/");
      return [dependency, tarballs?.get(dependency) ?? (isOurs ? version : dependencies[dependency])];
    });
  const manifest = { ...read, name, dependencies: Object.fromEntries(pinned) };
  return {
    manifest: `${JSON.stringify(manifest, null, 2)}\n`,
    pnpm: tarballs === undefined ? "" : overridesOf(tarballs),
  };
}

/** The overrides of our packages only: they name each other by versions that no registry has yet. */
function overridesOf(tarballs: ReadonlyMap<string, string>): string {
  const entries = [...tarballs].map(([name, address]) => `  "${name}": "${address}"\n`);
  return `\noverrides:\n${entries.join("")}`;
}
