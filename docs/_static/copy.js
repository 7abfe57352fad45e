// A button on every block of code that copies it, without prompts and output; names for arrows without words, and wide
// tables that the keyboard can scroll.
"use strict";
function reachTables() {
  for (const table of document.querySelectorAll(".bd-article table")) {
    if (table.scrollWidth > table.clientWidth) table.tabIndex = 0; else table.removeAttribute("tabindex");
  }
}
reachTables();
addEventListener("resize", reachTables);
for (const arrow of document.querySelectorAll("summary:has(> .toctree-toggle)")) arrow.setAttribute("aria-label", "Pages below");
for (const block of document.querySelectorAll("div.highlight > pre")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    const text = block.innerText.replace(/\n$/, "");
    const prompts = text.split("\n").filter((line) => /^(>>>|\.\.\.)( |$)/.test(line));
    await navigator.clipboard.writeText(prompts.length ? prompts.map((line) => line.slice(4)).join("\n") : text);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  block.parentElement.append(button);
}
