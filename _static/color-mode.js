// Before the page is drawn: the colours that the reader chose, or those of the system.
{
  try {
    localStorage.getItem("mode");
  } catch {
    // A browser that keeps nothing: the theme's scripts would end here, and the search with them.
    Object.defineProperty(window, "localStorage", { value: { getItem: () => null, setItem() {} } });
  }
  const mode = localStorage.getItem("mode") || "auto";
  const dark = mode === "dark" || (mode === "auto" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.mode = mode;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
}
