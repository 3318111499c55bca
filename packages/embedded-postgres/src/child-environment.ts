/** Only what a program needs to run: our own environment holds keys that a database has no business with. */
export function childEnvironment(): NodeJS.ProcessEnv {
  const kept: NodeJS.ProcessEnv = { LC_ALL: "C" };
  for (const name of ["PATH", "SystemRoot", "TEMP", "TMPDIR"]) {
    const value = process.env[name];
    if (value !== undefined) kept[name] = value;
  }
  return kept;
}
