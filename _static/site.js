// What the site's own controls do beyond plain HTML; each works without this file too.

// The language switcher keeps the section: headings have the same anchors in every language.
for (const link of document.querySelectorAll(".language-switcher a")) {
  link.addEventListener("click", () => {
    link.hash = location.hash || currentSection();
  });
}

// An open switcher closes like a menu.
document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll(".language-switcher[open]")) {
    if (!menu.contains(event.target)) menu.open = false;
  }
});
document.addEventListener("keydown", (event) => {
  const menu = document.querySelector(".language-switcher[open]");
  if (menu && event.key === "Escape") {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
});

// The section at the top of the window, unless the reader is still above the first one.
function currentSection() {
  let found = "";
  for (const section of document.querySelectorAll("article section[id]")) {
    if (section.getBoundingClientRect().top < 120) found = section.id;
  }
  const first = document.querySelector("article section[id]");
  return first && found !== first.id ? found : "";
}

// A button on each block of code, not on outputs, that copies it without prompts.
const copyButton = document.getElementById("copy-button");
for (const block of copyButton ? document.querySelectorAll("article div.highlight") : []) {
  if (block.closest(".recorded-output, .highlight-none")) continue;
  const button = copyButton.content.firstElementChild.cloneNode(true);
  const label = button.textContent;
  button.addEventListener("click", async () => {
    const code = block.querySelector("pre").cloneNode(true);
    code.querySelectorAll(".gp, .go, .linenos").forEach((part) => part.remove());
    await navigator.clipboard.writeText(code.textContent);
    button.textContent = button.dataset.done;
    setTimeout(() => (button.textContent = label), 2000);
  });
  block.append(button);
}
