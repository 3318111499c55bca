/** Packages of the server stay outside the bundle: they hold connections, workers and a database. */
export default {
  serverExternalPackages: [
    "@langchain/core",
    "@langchain/langgraph",
    "@throughline/graph-executor",
    "@throughline/langgraph-server",
  ],
};
