import { fileURLToPath } from "node:url";
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import { BEHAVIOUR_PROJECT, runExecutorBehaviour } from "../behaviour/executor-behaviour.js";
import { loadProjectGraphs } from "../graphs/project-graphs.js";
import { startPostgresFixture } from "../persistence/postgres-fixture.js";
import { createInProcProvider } from "./provider.js";

const graphs = await loadProjectGraphs(fileURLToPath(BEHAVIOUR_PROJECT));

runExecutorBehaviour("The in-process provider on PostgreSQL", async () => {
  const postgres = await startPostgresFixture();
  const checkpointer = PostgresSaver.fromConnString(postgres.url);
  await checkpointer.setup();
  return {
    provider: createInProcProvider({ graphs, checkpointer }),
    async close() {
      await checkpointer.end();
      await postgres.stop();
    },
  };
});
