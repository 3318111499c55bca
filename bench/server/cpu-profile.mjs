import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const SHOWN = 10;

/**
 * Profiles a server while something happens, writes the profile for Chromium's or an editor's viewer, and tells the functions
 * it spent most of its own time in.
 *
 * @param {string} root of the repository
 * @param {(text: string) => void} progress
 */
export function createProfiler(root, progress) {
  const folder = join(root, ".throughline", "bench");
  return {
    async profile(server, work) {
      await server.ask("start profile");
      await work();
      const profile = await server.ask("stop profile");
      mkdirSync(folder, { recursive: true });
      const path = join(folder, "server.cpuprofile");
      writeFileSync(path, JSON.stringify(profile));
      const lines = topSelfTimes(profile, root).map(
        ({ ms, share, name, place }) =>
          `    ${ms.toFixed(1).padStart(8)} ms ${(100 * share).toFixed(1).padStart(5)} %  ${name}  ${place}`,
      );
      progress([`  profile: ${path}`, "  most time of their own, idle time apart", ...lines].join("\n"));
    },
  };
}

/** By function, not by the way it was called. */
export function topSelfTimes({ nodes, samples, timeDeltas }, root, count = SHOWN) {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const micros = new Map();
  let busy = 0;
  samples.forEach((id, index) => {
    const { functionName, url, lineNumber } = frames.get(id);
    // Idle time, and the profiler's own start.
    if (["(idle)", "(program)", "dispatch"].includes(functionName)) return;
    const file = url.startsWith("file:") ? fileURLToPath(url) : url;
    const place =
      file === "" ? "" : `${file.replace(`${root}/`, "").replace(/^.*node_modules\//, "")}:${lineNumber + 1}`;
    const key = JSON.stringify([functionName || "(anonymous)", place]);
    micros.set(key, (micros.get(key) ?? 0) + timeDeltas[index]);
    busy += timeDeltas[index];
  });
  return [...micros]
    .sort(([, a], [, b]) => b - a)
    .slice(0, count)
    .map(([key, time]) => {
      const [name, place] = JSON.parse(key);
      return { name, place, ms: time / 1_000, share: time / busy };
    });
}
