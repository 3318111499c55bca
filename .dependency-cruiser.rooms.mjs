// @ts-check
import configuration from "./.dependency-cruiser.mjs";

/**
 * Folders of a package, which are its rooms. A cruise of its own, because tests may use any room: they sit beside what they
 * test, and would close every circle.
 *
 * @type {import("dependency-cruiser").IConfiguration}
 */
export default {
  forbidden: [
    {
      name: "NO_ROOM_CYCLES",
      comment:
        "A package's folders are in order, from the ground up: what two of them need lives in the lower one.",
      severity: "error",
      scope: "folder",
      from: { path: "^packages/(langgraph-server|billing|cli)/src/" },
      to: { circular: true },
    },
  ],
  options: {
    ...configuration.options,
    exclude: { path: "^boundaries/fixtures/|\\.test\\.tsx?$|/(testing|conformance)/" },
  },
};
