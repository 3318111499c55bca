/** All pictures on one page, those of one scene beside each other. */
export function indexPage(files: readonly string[]): string {
  const scenes = [...new Set(files.map(sceneOf))].sort();
  const rows = scenes.map((scene) => {
    const pictures = files.filter((file) => sceneOf(file) === scene).map(picture);
    return `<h2 id="${scene}">${scene}</h2><div>${pictures.join("")}</div>`;
  });
  return `<!doctype html><meta charset="utf-8"><title>Shots</title>
<style>body{font:14px system-ui;margin:24px}div{display:flex;gap:12px;overflow-x:auto}img{height:420px;border:1px solid #8884}</style>
${rows.join("\n")}
`;
}

const sceneOf = (file: string): string => file.split(".")[0] ?? file;

const picture = (file: string): string =>
  `<a href="${file}"><img src="${file}" alt="${file}" loading="lazy"></a>`;
