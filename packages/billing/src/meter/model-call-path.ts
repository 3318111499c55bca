const MODEL_PATH =
  /\/(?:chat\/completions|completions|responses|messages|embeddings|images\/(?:generations|edits)|audio\/(?:speech|transcriptions|translations)|rerank|converse(?:-stream)?|invoke(?:-with-response-stream)?)\/?$|:(?:generate|streamGenerate|embed|batchEmbed)Contents?$/;

/** Whether a request looks like a call of a model, at whichever provider: such a call was not metered. */
export function isModelCallPath(pathname: string): boolean {
  return MODEL_PATH.test(pathname);
}
