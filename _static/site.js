// What the site's own controls do beyond plain HTML; reading works without this file, too.

const keep = (name, value) => {
  try {
    localStorage.setItem(name, value);
  } catch {} // a browser that keeps nothing
};

// The sections of the page, and the one at the top of the window: none while the reader is above them.
const sections = [...document.querySelectorAll("article section section[id]")];
function currentSection() {
  const top = Math.max(120, innerHeight / 4);
  return sections.findLast((section) => section.getBoundingClientRect().top < top)?.id || "";
}

// The language switcher keeps the place: anchors are the same in every language. What the address
// names counts while it is in sight. The choice is remembered for the page above all languages.
for (const link of document.querySelectorAll(".language-switcher a")) {
  link.addEventListener("click", () => {
    const named = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const box = named && named.getBoundingClientRect();
    const seen = box && box.bottom > 0 && box.top >= 0 && box.top < innerHeight;
    link.hash = seen ? location.hash : currentSection();
    keep("language", link.hreflang);
  });
}

// Open menus, and the facts of a recording, close as menus do.
const openMenus = () => [...document.querySelectorAll("details:is(.menu, .provenance)[open]")];
document.addEventListener("click", (event) => {
  for (const menu of openMenus()) if (!menu.contains(event.target)) menu.open = false;
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const menu of openMenus()) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
});
// On narrow windows the menus of the page lie in dialogs over it.
for (const button of document.querySelectorAll(".sidebar-toggle")) {
  const over = document.getElementById(button.getAttribute("aria-controls"));
  const menu = document.getElementById(over?.id.replace(/-modal$/, ""));
  if (!menu) continue;
  const close = make("close-menu");
  close.addEventListener("click", () => over.close());
  button.addEventListener("click", () => {
    over.append(close, ...menu.childNodes);
    button.setAttribute("aria-expanded", true);
    over.showModal();
  });
  over.addEventListener("close", () => {
    close.remove();
    menu.append(...over.childNodes);
    button.setAttribute("aria-expanded", false);
  });
  over.addEventListener("click", (event) => (event.target === over || event.target.closest("a")) && over.close());
}

// Colours
const modes = [...document.querySelectorAll(".color-mode button")];
function showMode() {
  const chosen = document.documentElement.dataset.mode;
  for (const button of modes) button.setAttribute("aria-pressed", button.dataset.mode === chosen);
  const icon = { auto: "circle-half-stroke", light: "sun", dark: "moon" }[chosen];
  for (const each of document.querySelectorAll(".color-mode summary i")) each.className = `fa-solid fa-${icon}`;
}
for (const button of modes) {
  button.addEventListener("click", () => {
    keep("mode", button.dataset.mode);
    dispatchEvent(new CustomEvent("mode", { detail: button.dataset.mode }));
    showMode();
    button.closest("details").open = false;
  });
}
showMode();

// Search: a field over the page, by its button or by Ctrl+K; on the page of results its own field.
// Most readers of a page never search: what finds is loaded by the first who does.
const dialog = document.getElementById("pst-search-dialog");
function openSearch() {
  if (!dialog) return document.querySelector("article form input[type=search]")?.focus();
  const form = dialog.querySelector("form[data-script]");
  if (form) {
    const script = document.createElement("script");
    script.src = form.dataset.script;
    script.onerror = () => (form.dataset.script = script.getAttribute("src")); // opened again, it is tried again
    form.removeAttribute("data-script");
    document.head.append(script);
  }
  if (!dialog.open) dialog.showModal();
  dialog.querySelector("input").focus();
}
for (const button of document.querySelectorAll(".search-button__button")) button.addEventListener("click", openSearch);
dialog?.addEventListener("click", (event) => event.target === dialog && dialog.close());
// WebKit's search field keeps Escape to itself; an input method has its own use of it
dialog?.addEventListener("keydown", (event) => event.key === "Escape" && !event.isComposing && dialog.close());
document.addEventListener("keydown", (event) => {
  if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
  event.preventDefault();
  openSearch();
});
if (/Mac|iP(hone|ad)/.test(navigator.platform)) {
  for (const key of document.querySelectorAll(".search-button__kbd-shortcut")) key.textContent = "⌘ K";
}

// "On this page" marks the section that is read, whenever the page has moved.
const toc = document.getElementById("pst-page-toc-nav");
if (toc) {
  const links = new Map([...toc.querySelectorAll("a")].map((link) => [decodeURIComponent(link.hash.slice(1)), link]));
  let waiting = false;
  const mark = () => {
    waiting = false;
    const inToc = sections.filter((section) => links.has(section.id));
    const top = Math.max(120, innerHeight / 4);
    const atEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 2 && scrollY > 0;
    const read = atEnd ? inToc.at(-1) : inToc.findLast((section) => section.getBoundingClientRect().top < top);
    for (const [id, link] of links) {
      link.classList.toggle("active", id === read?.id);
      if (id === read?.id) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  };
  const soon = () => {
    if (!waiting) requestAnimationFrame(mark);
    waiting = true;
  };
  addEventListener("scroll", soon, { passive: true });
  addEventListener("resize", soon, { passive: true });
  soon();
}

// Controls are templates of the page, so that their labels are in its language.
function make(id) {
  return document.getElementById(id)?.content.firstElementChild.cloneNode(true);
}

// A button on each block of code, not on outputs, that copies it without prompts. Its name tells
// which code: its first line that is no comment.
const copyNames = new Map();
for (const block of document.querySelectorAll("article div.highlight")) {
  if (block.closest(".recorded-output, .highlight-none")) continue;
  const button = make("copy-button");
  if (!button) break;
  const label = button.textContent;
  const lines = block.textContent.split("\n").map((line) => line.trim());
  const first = (lines.find((line) => /^[^#\s"']/.test(line)) || lines[0] || "").slice(0, 60);
  const count = (copyNames.get(first) || 0) + 1;
  copyNames.set(first, count);
  const name = `${label}: ${first}${count > 1 ? ` (${count})` : ""}`;
  button.setAttribute("aria-label", name);
  button.addEventListener("click", async () => {
    const code = block.querySelector("pre").cloneNode(true);
    code.querySelectorAll(".gp, .go, .linenos").forEach((part) => part.remove());
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = button.dataset.done;
    } catch {
      button.textContent = button.dataset.failed; // the browser or the reader does not allow it
    }
    button.removeAttribute("aria-label");
    setTimeout(() => {
      button.textContent = label;
      button.setAttribute("aria-label", name);
    }, 2000);
  });
  block.append(button);
}

// What a phone has not laid out yet (site.css) is laid out part by part while nothing else is to do, so
// that the page has its true length when the reader comes back to it.
const parts = [...document.querySelectorAll(".arrived :is(section.answer ~ section, .headline)")];
function layOut() {
  const part = parts.shift();
  if (!part) return;
  part.style.contentVisibility = "initial";
  requestIdleCallback(layOut);
}
window.requestIdleCallback?.(layOut);

// Tables that are wider than their frame: keys scroll it, and it has a name. So do keys wide outputs.
// An observer asks only what is laid out: code in a closed cell has no size yet.
const frames = [...document.querySelectorAll("article :is(.pst-scrollable-table-container, .recorded-html)")];
const scrolls = (each) => each.scrollWidth > each.clientWidth + 1;
const sizes = new ResizeObserver((resized) => {
  const wide = new Set(resized.map(({ target }) => target).filter(scrolls)); // all are asked before one is changed
  for (const { target } of resized) {
    if (target.localName === "pre") {
      if (wide.has(target)) target.tabIndex = 0;
      else target.removeAttribute("tabindex");
    } else if (wide.has(target)) {
      const number = frames.indexOf(target) + 1;
      for (const { name, value } of make("wide-table")?.attributes || []) {
        target.setAttribute(name, value.replace("%s", number));
      }
    } else for (const name of ["role", "tabindex", "aria-label"]) target.removeAttribute(name);
  }
});
for (const each of [...document.querySelectorAll("article pre"), ...frames]) sizes.observe(each);
