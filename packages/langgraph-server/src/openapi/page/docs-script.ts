/** All that needs a script: looking for something, copying, and the address that the page was loaded from. */
export const DOCS_SCRIPT = `
const search = document.querySelector("#search");
const status = document.querySelector("#found");
const entries = [...document.querySelectorAll("[data-words]")];
const groups = [...document.querySelectorAll("[data-group]")];

function show() {
  const wanted = search.value.toLowerCase().split(/\\s+/).filter(Boolean);
  for (const entry of entries) entry.hidden = !wanted.every((word) => entry.dataset.words.includes(word));
  for (const group of groups) group.hidden = !group.querySelector("[data-words]:not([hidden])");
  const found = entries.filter((entry) => entry.tagName === "ARTICLE" && !entry.hidden).length;
  status.textContent = wanted.length === 0 ? "" : found === 0 ? "Nothing found" : found + " found";
}

search.closest("form").hidden = false;
search.addEventListener("input", show);
search.closest("form").addEventListener("submit", (event) => event.preventDefault());
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== search) {
    event.preventDefault();
    search.focus();
  }
  if (event.key === "Escape" && document.activeElement === search) {
    search.value = "";
    show();
  }
});

for (const command of document.querySelectorAll(".command")) {
  const code = command.querySelector("code");
  const button = command.querySelector("button");
  if (location.protocol.startsWith("http")) {
    code.textContent = code.textContent.replace(document.body.dataset.address, location.origin);
  }
  if (!navigator.clipboard) continue;
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(code.textContent);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
}
show();
`;
