import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";

export interface FileLoad {
  /** `true` once every client has sent or received its file, or the time is over. */
  readonly isOver: () => boolean;
  /** Stops the clients, as a suspended machine would; the server waits for them. */
  pause(): void;
  resume(): void;
  /** Rejects with what went wrong. */
  readonly done: Promise<LoadReport>;
}

export interface LoadReport {
  /** Files that were stored, and that came back whole. */
  readonly uploads: number;
  readonly downloads: number;
  /** With those of downloads that were under way at the end. */
  readonly bytesDown: number;
  /** How often a request was told to come back later. */
  readonly refusals: number;
  readonly seconds: number;
}

export interface LoadOptions {
  readonly account: string;
  readonly files: number;
  readonly mebibytes: number;
  /** After so long all clients leave. */
  readonly seconds: number;
  /** The path of a file that is there, for downloads. */
  readonly file: string;
}

/** Uploads and downloads, all at once, from one account and from a process of their own. */
export async function startFileLoad(
  url: string,
  { account, files, mebibytes, seconds, file }: LoadOptions,
): Promise<FileLoad> {
  const program = fileURLToPath(new URL("./file-load.mjs", import.meta.url));
  const child = fork(program, [url, account, String(files), String(mebibytes), String(seconds), file], {
    silent: true,
  });
  let said = "";
  let complaint = "";
  let isOver = false;
  child.stdout?.on("data", (text: Buffer) => {
    said += text.toString();
  });
  child.stderr?.on("data", (text: Buffer) => {
    complaint += text.toString();
  });
  const done = new Promise<LoadReport>((resolve, reject) => {
    child.once("close", (code) => {
      isOver = true;
      // A parsed boundary: file-load.mjs wrote it.
      if (code === 0) resolve(JSON.parse(said) as LoadReport);
      else reject(new Error(complaint));
    });
  });
  done.catch(() => {});
  await new Promise<void>((resolve) => child.once("message", () => resolve()));
  return {
    isOver: () => isOver,
    pause: () => void child.kill("SIGSTOP"),
    resume: () => void child.kill("SIGCONT"),
    done,
  };
}
