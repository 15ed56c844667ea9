// Before the page is drawn: whether the reader comes to its top. Who comes back to it, or to a section that
// the address names, needs its whole length for the place to be found.
if (!location.hash && performance.getEntriesByType("navigation")[0]?.type === "navigate") {
  document.documentElement.classList.add("arrived");
}

// The colours that the reader chose, or those of the system
{
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const read = () => {
    try {
      return localStorage.getItem("mode") || "auto";
    } catch {
      return root.dataset.mode || "auto"; // a browser that keeps nothing
    }
  };
  const apply = (mode = read()) => {
    root.dataset.mode = mode;
    root.dataset.theme = mode === "dark" || (mode === "auto" && system.matches) ? "dark" : "light";
  };
  apply();
  system.addEventListener("change", () => apply());
  addEventListener("mode", (event) => apply(event.detail)); // site.js: the reader chooses
}
