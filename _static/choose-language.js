// On the pages above all languages: the language that a reader wants, among those there are.
{
  const script = document.currentScript;
  const codes = JSON.parse(script.dataset.languages); // folder of each language by its tag
  const base = (tag) => tag.split("-")[0].toLowerCase();
  const wanted = () => {
    const tags = Object.keys(codes);
    let chosen = [];
    try {
      chosen = [localStorage.getItem("language") || ""]; // by the switcher of a page
    } catch {} // a browser that keeps nothing
    for (const wish of [...chosen, ...(navigator.languages || [])]) {
      const tag =
        tags.find((each) => each.toLowerCase() === wish.toLowerCase()) ||
        tags.find((each) => base(each) === base(wish));
      if (tag) return codes[tag];
    }
  };

  // The page for wrong addresses shows one language, that of the address first.
  const show = () => {
    // Hosts have folders of their own before it: /en/latest/ko/page.html
    const inPath = location.pathname.split("/").findLast((part) => Object.values(codes).includes(part));
    const shown = document.getElementById(inPath || wanted() || "none");
    if (!shown) return; // all languages stay, as without a script
    for (const each of document.querySelectorAll("section")) each.hidden = each !== shown;
    document.documentElement.lang = shown.lang;
    document.documentElement.dir = shown.dir;
    document.title = shown.querySelector("h2").textContent;
  };

  if (!("redirect" in script.dataset)) document.addEventListener("DOMContentLoaded", show);
  else if (wanted()) location.replace(`${wanted()}/index.html${location.hash}`);
}
