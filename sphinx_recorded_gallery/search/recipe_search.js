// Fields for searches: results come below a field while somebody types.
// What finds them, recipe_rank.js, and the index are loaded with the first query, as scripts, which
// browsers also load from a folder, and which a Content-Security-Policy allows as those of the site.
(() => {
  if (window.recipeGallerySearch) return;
  const TYPING = 150; // ms without a key after which the query is looked for
  const root = new URL("..", document.currentScript.src);
  const received = new Map();
  window.recipeGallerySearch = (name, data) => received.set(name, data);
  let finder; // the promise of what finds: one for all fields

  function load(address) {
    return new Promise((resolve, reject) => {
      const script = element("script");
      script.src = new URL(address, root);
      script.onload = resolve;
      script.onerror = () => reject(new Error(`${script.src} could not be loaded`));
      document.head.append(script);
    });
  }

  async function makeFinder() {
    await Promise.all(["_static/recipe_rank.js", "search-index.js"].map(load));
    return received.get("find")(received.get("index"), document.documentElement.lang);
  }

  function attach(form) {
    const field = form.querySelector("input[name=q]");
    const around = form.parentElement;
    const [status, list] = [around.querySelector(".search-status"), around.querySelector(".search-results")];
    const labels = JSON.parse(form.dataset.labels);
    let current = 0; // number of the latest query: an older one that ends later shows nothing
    let timer;

    async function show(query) {
      const number = ++current;
      let [found, text] = [[], ""];
      if (query) {
        if (!list.children.length) status.textContent = labels.searching;
        try {
          const { count, pages } = (await (finder ??= makeFinder()))(query);
          text = count ? labels[count > pages.length ? "most" : "found"].replace("%s", count) : labels.none;
          found = pages;
        } catch (error) {
          console.error(error);
          finder = undefined; // the next query loads it again
          [query, text] = ["", labels.failed];
        }
        if (number !== current) return;
      }
      list.replaceChildren(...found.map(describe));
      list.dataset.query = query;
      status.textContent = text;
    }

    // The arrows lead from the field to the results and through them.
    around.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      const stops = [field, ...list.querySelectorAll("a")];
      const next = stops[stops.indexOf(document.activeElement) + step];
      if (!step || !stops.includes(document.activeElement) || !next || event.isComposing) return;
      event.preventDefault();
      next.focus();
    });

    // The page of the search keeps the query in its address.
    const isPage = !form.closest("dialog") && new URL(form.action).pathname === location.pathname;
    function search(how) {
      clearTimeout(timer);
      const [query, address] = [field.value.trim(), new URL(location)];
      address.searchParams.set("q", query);
      if (isPage) history[how](null, "", address);
      show(query);
    }
    field.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(search, TYPING, "replaceState");
    });
    if (!isPage) {
      if (field.value) search(); // typed while this file was loaded
      return;
    }
    const showAsked = () => show((field.value = new URLSearchParams(location.search).get("q")?.trim() || ""));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      search("pushState");
    });
    addEventListener("popstate", showAsked);
    field.focus();
    showAsked();
  }

  // A result: its page and the section that answers best, an excerpt of it, and other sections with the words.
  function describe({ title, best, excerpt, sections }) {
    const heading = link(best, "search-title");
    if (best.title !== title) heading.prepend(element("span", "search-page", title), " › ");
    const item = element("li", "", heading);
    const parts = excerpt.map(([text, marked]) => (marked ? element("mark", "", text) : text));
    item.append(element("p", "search-excerpt", ...parts));
    const entries = sections.map((each) => element("li", "", link(each)));
    if (entries.length) item.append(element("ul", "search-sections", ...entries));
    return item;
  }

  function link({ address, title }, name) {
    const made = element("a", name, title);
    made.href = new URL(address, root);
    return made;
  }

  function element(tag, name, ...children) {
    const made = document.createElement(tag);
    if (name) made.className = name;
    made.append(...children);
    return made;
  }

  document.querySelectorAll("form.recipe-search").forEach(attach);
})();
