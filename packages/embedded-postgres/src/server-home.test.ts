import { chmodSync, cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { findPostgresBinaries, movedBinaries } from "./cluster.js";
import { chooseServiceUser, mayRun, reachableBinaries } from "./run-as.js";

import { itNeeds, rootIsMissing } from "./testing/it-needs.js";
import { makeTempFolder } from "./testing/temp-folder.js";

itNeeds(rootIsMissing)(
  "keeps a copy of the binaries beside the data when they lie where PostgreSQL's user can't go",
  async () => {
    const folder = makeTempFolder();
    const user = chooseServiceUser(undefined);
    if (!user) return expect.unreachable();
    try {
      const hidden = join(folder.path, "hidden");
      const home = { folder: join(folder.path, "home"), cluster: join(folder.path, "home", "cluster") };
      mkdirSync(home.folder);
      const packaged = await findPostgresBinaries();
      expect(await reachableBinaries(packaged, undefined, home, "18.4")).toBe(packaged);

      cpSync(packaged.root, join(hidden, "native"), { recursive: true, verbatimSymlinks: true });
      chmodSync(hidden, 0o700);
      const unreachable = movedBinaries(packaged, join(hidden, "native"));
      expect(mayRun(user, unreachable.postgres)).toBe(false);
      const copied = await reachableBinaries(unreachable, user, home, "18.4");
      expect(mayRun(user, copied.postgres)).toBe(true);
      expect(mayRun(user, copied.initdb)).toBe(true);
      expect(await reachableBinaries(unreachable, user, home, "18.4")).toEqual(copied);
    } finally {
      folder.remove();
    }
  },
);
