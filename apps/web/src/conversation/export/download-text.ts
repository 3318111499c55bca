/** Saves a text as a file of the browser's. */
export function downloadText(filename: string, text: string, mimeType: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: mimeType }));
  const link = document.createElement("a");
  link.href = url;
  link.download = filename;
  link.click();
  // Some browsers read it after the press.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** A title as the name of a file, on every system. */
export function fileNameOf(title: string, extension: string): string {
  const name = title
    .normalize("NFC")
    .replace(/[\p{Cc}\\/:*?"<>|]+/gu, " ")
    .trim()
    .slice(0, 80);
  return `${name === "" ? "thread" : name}.${extension}`;
}
