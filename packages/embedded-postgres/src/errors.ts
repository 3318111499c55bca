import { ThroughlineError } from "@throughline/ai-core";

const OWN_DATABASE = "set LANGGRAPH_DATABASE_URL to a PostgreSQL (14 to 18) of your own";

export function noEmbeddedPostgres(cause: unknown): ThroughlineError {
  return new ThroughlineError(
    "internal",
    `There is no embedded PostgreSQL for ${process.platform} ${process.arch} here: ${OWN_DATABASE}. ` +
      "If there should be one, install again without --no-optional, as a user who may write to node_modules.",
    { cause },
  );
}

export function noServiceUser(cause: unknown): ThroughlineError {
  return new ThroughlineError(
    "internal",
    "PostgreSQL does not run as root, and no other user could be found or created for it: " +
      `run as another user, create a user named postgres, or ${OWN_DATABASE}.`,
    { cause },
  );
}

export function otherMajorVersion(dataDir: string, found: string, ours: string): ThroughlineError {
  return new ThroughlineError(
    "internal",
    `${dataDir} was made by PostgreSQL ${found}, and this is PostgreSQL ${ours}. Nothing was changed. ` +
      `Move its content with pg_dump or pg_upgrade, choose another folder, or ${OWN_DATABASE}.`,
  );
}

export function notAnswering(dataDir: string, pid: number): ThroughlineError {
  return new ThroughlineError(
    "internal",
    `A PostgreSQL (process ${pid}) holds ${dataDir} but does not let us in. Stop it, or ${OWN_DATABASE}.`,
  );
}

export function heldElsewhere(dataDir: string, host: string): ThroughlineError {
  return new ThroughlineError(
    "internal",
    `${dataDir} is used by a PostgreSQL on ${host}, and two would destroy it. Give each instance a folder of its own, or ` +
      `${OWN_DATABASE}, which all instances can share.`,
  );
}

/** Turns output of the operating system or PostgreSQL into an error that names what a person can do about it. */
export function startFailure(dataDir: string, output: string, cause?: unknown): ThroughlineError {
  return new ThroughlineError("internal", sentence(dataDir, output), { cause });
}

/** Converts an error of Node's own file system calls, which carry a code; every other error passes unchanged. */
export function folderFailure(dataDir: string, error: unknown): unknown {
  if (error instanceof ThroughlineError || !(error instanceof Error) || !("syscall" in error)) return error;
  return startFailure(dataDir, error.message, error);
}

function sentence(dataDir: string, output: string): string {
  if (/ENOSPC|EDQUOT|No space left|quota exceeded/i.test(output)) {
    return `The disk is full: PostgreSQL can't write ${dataDir}. Free some space, choose another folder, or ${OWN_DATABASE}.`;
  }
  if (/EACCES|EPERM|EROFS|ENOTDIR|EEXIST|Permission denied|Read-only|not permitted/i.test(output)) {
    return `PostgreSQL can't use the folder ${dataDir}: it is not writable here. Choose another folder, or ${OWN_DATABASE}.`;
  }
  const reason = lastReason(output);
  return `PostgreSQL did not start in ${dataDir}${reason ? ` (${reason})` : ""}. Look at its server.log, or ${OWN_DATABASE}.`;
}

function lastReason(output: string): string | undefined {
  const lines = output.split("\n").filter((line) => /FATAL|PANIC|ERROR|error:/.test(line));
  return lines
    .at(-1)
    ?.replace(/^.*?(FATAL|PANIC|ERROR|error):\s*/, "")
    .trim();
}
