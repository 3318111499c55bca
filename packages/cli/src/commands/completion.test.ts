import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";
import { renderCompletion } from "./completion.js";

const commands = [
  { name: "crons", summary: "Somebody's crons", actions: ["list", "add"], flags: ["--json", "--help"] },
  { name: "config", summary: "Settings", actions: [], flags: ["--port", "--help"] },
];

/** What bash itself would offer. */
function offered(...words: readonly string[]): string[] {
  const script = `${renderCompletion("bash", commands)}
    COMP_WORDS=(throughline ${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length}
    _throughline; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync("bash", ["--norc", "-c", script], { encoding: "utf8" }).trim().split("\n");
}

it("offers commands first, then what each of them takes", () => {
  expect(offered("c")).toEqual(["crons", "config"]);
  expect(offered("--v")).toEqual(["--version"]);
  expect(offered("crons", "")).toEqual(["list", "add", "--json", "--help"]);
  expect(offered("config", "--p")).toEqual(["--port"]);
  expect(offered("nothing", "x")).toEqual([""]);
});

it("loads bash's way into zsh, and speaks fish's own", () => {
  expect(renderCompletion("zsh", commands)).toMatch(
    /^autoload -U \+X bashcompinit && bashcompinit\n_throughline/,
  );
  const fish = renderCompletion("fish", commands);
  expect(fish).toContain("complete -c throughline -n __fish_use_subcommand -a crons -d 'Somebody\\'s crons'");
  expect(fish).toContain("complete -c throughline -n '__fish_seen_subcommand_from config' -l port");
});
