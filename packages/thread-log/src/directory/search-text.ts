/** What a search looks in. Folded here and not by the database, whose idea of upper case depends on its locale. */
export function searchText(title: string | undefined, threadName: string): string {
  return foldCase(`${title ?? ""}\n${threadName}`);
}

export function foldCase(text: string): string {
  return text.normalize("NFKC").toLowerCase();
}

/** A title is what a person typed, and PostgreSQL's text can't hold U+0000. */
export function storableTitle(title: string | undefined): string | undefined {
  return title?.replaceAll("\u0000", "");
}
