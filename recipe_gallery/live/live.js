// Reloads the page at the place where the reader was, or shows what is wrong over it.
{
  const key = `live:${location.pathname}`;
  const place = sessionStorage.getItem(key);
  sessionStorage.removeItem(key);
  if (place !== null) scrollTo({ top: Number(place), behavior: "instant" });

  let shown = null; // number of the build that this page is from
  new EventSource("/live-events").onmessage = (event) => {
    const { build, problems } = JSON.parse(event.data);
    shown ??= build;
    document.querySelector(".live-problems")?.remove();
    if (build !== shown) {
      sessionStorage.setItem(key, scrollY);
      location.reload();
    } else if (problems.length) {
      const box = document.createElement("pre");
      box.className = "live-problems";
      box.setAttribute("role", "alert");
      box.textContent = problems.join("\n");
      document.body.append(box);
    }
  };
}
