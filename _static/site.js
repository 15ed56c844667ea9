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

// Controls are templates of the page, so that their labels are in its language.
function make(id) {
  return document.getElementById(id)?.content.firstElementChild.cloneNode(true);
}

// A button on each block of code, not on outputs, that copies it without prompts.
for (const block of document.querySelectorAll("article div.highlight")) {
  if (block.closest(".recorded-output, .highlight-none")) continue;
  const button = make("copy-button");
  if (!button) break;
  const label = button.textContent;
  button.addEventListener("click", async () => {
    const code = block.querySelector("pre").cloneNode(true);
    code.querySelectorAll(".gp, .go, .linenos").forEach((part) => part.remove());
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = button.dataset.done;
    } catch {
      button.textContent = button.dataset.failed; // the browser or the reader does not allow it
    }
    setTimeout(() => (button.textContent = label), 2000);
  });
  block.append(button);
}

// Recorded figures can be enlarged: by the button on them, or by a click.
for (const image of document.querySelectorAll(".recorded-output img.sphx-glr-single-img")) {
  const button = make("enlarge-button");
  if (!button) break;
  const frame = document.createElement("span");
  frame.className = "figure-frame";
  image.replaceWith(frame);
  frame.append(image, button);
  const enlarge = () => {
    const dialog = make("enlarged-figure");
    const copy = image.cloneNode();
    copy.removeAttribute("srcset");
    copy.loading = "eager";
    dialog.append(copy);
    // anywhere outside of the figure closes it; so does Escape, by itself
    dialog.addEventListener("click", (event) => event.target !== copy && dialog.close());
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
  };
  button.addEventListener("click", enlarge);
  image.addEventListener("click", enlarge);
}

// Browsers load no modules, and so no search, from a folder: the page of results says so.
const searchStatus = document.getElementById("search-status");
if (searchStatus && location.protocol === "file:") searchStatus.textContent = searchStatus.dataset.file;
