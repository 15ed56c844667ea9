// Before the page is drawn: the colours that the reader chose, or those of the system.
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
