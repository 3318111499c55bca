/** A subagent's task: the question, and the file for its result. */
export interface Assignment {
  readonly question: string;
  readonly path: string;
}

export function writeAssignment({ question, path }: Assignment): string {
  return `Question: ${question}\nWrite your result to ${path}`;
}

/** Reads an assignment back; a model may have worded it otherwise, so what is missing has a fallback. */
export function readAssignment(description: string, fallbackPath: string): Assignment {
  return {
    question: /^Question: (.+)$/m.exec(description)?.[1] ?? description,
    path: /(?<=^|\s)\/[\w./-]+\.md\b/.exec(description)?.[0] ?? fallbackPath,
  };
}
