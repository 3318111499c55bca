/** Both keep connections and threads of their own, which a bundle would break. */
export default {
  serverExternalPackages: ["@copilotkit/runtime", "@throughline/copilotkit-runner"],
};
