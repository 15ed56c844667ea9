// Before the page is drawn: the colours that the reader chose, or those of the system.
{
  const mode = localStorage.getItem("mode") || "auto";
  const dark = mode === "dark" || (mode === "auto" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.mode = mode;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
}
