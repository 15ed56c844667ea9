// Fields for searches: results come below a field while somebody types.
// What finds them, recipe_find.js, and the index are loaded with the first query, as scripts, which
// browsers also load from a folder, and which a Content-Security-Policy allows as those of the site.
(() => {
  if (window.recipeGallerySearch) return;
  const TYPING = 150; // ms without a key after which the query is looked for
  const root = new URL("..", document.currentScript.src);
  const received = new Map();
  const loading = new Map();
  window.recipeGallerySearch = (name, data) => received.set(name, data);

  // Load a file of the index once, or again if that failed; return what it holds.
  function load(name, address = `search-index/${name}`) {
    if (!loading.has(name)) {
      const promise = new Promise((resolve, reject) => {
        const script = document.createElement("script");
        script.src = new URL(address, root);
        script.onload = () => (received.has(name) ? resolve(received.get(name)) : script.onerror());
        script.onerror = () => {
          loading.delete(name);
          reject(new Error(`${script.src} could not be loaded`));
        };
        document.head.append(script);
      });
      loading.set(name, promise);
    }
    return loading.get(name);
  }

  async function find(query) {
    const [make, index] = await Promise.all([load("find", "_static/recipe_find.js"), load("index.js")]);
    return make(index, load, document.documentElement.lang)(query);
  }

  function attach(form) {
    const field = form.querySelector("input[name=q]");
    const around = form.parentElement;
    const [status, list] = [around.querySelector(".search-status"), around.querySelector(".search-results")];
    const labels = JSON.parse(form.dataset.labels);
    const isPage = !form.closest("dialog") && new URL(form.action).pathname === location.pathname;
    form.hidden = false;
    let current = 0; // number of the latest query: an older one that ends later shows nothing
    let timer;

    async function show(query) {
      clearTimeout(timer);
      const number = ++current;
      let found;
      if (query) {
        const slow = setTimeout(() => number === current && (status.textContent = labels.searching), list.children.length ? TYPING : 0);
        list.setAttribute("aria-busy", "true");
        try {
          found = await find(query);
        } catch (error) {
          if (number === current) {
            list.replaceChildren();
            status.textContent = labels.failed;
          }
          console.error(error);
          return;
        } finally {
          clearTimeout(slow);
        }
        if (number !== current) return;
      }
      list.removeAttribute("aria-busy");
      list.replaceChildren(...(found?.pages || []).map(describe));
      status.textContent = query ? tell(found) : "";
      list.dataset.query = query;
    }

    function tell({ count, pages, meant }) {
      const number = count ? labels[count > pages.length ? "most" : "found"].replace("%s", count) : labels.none;
      const other = meant.map((pair) => pair.reduce((text, word) => text.replace("%s", () => word), labels.meant));
      return [...(count ? other : []), number].join(" ");
    }

    field.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        if (isPage) keepQuery("replaceState");
        show(field.value.trim());
      }, TYPING);
    });
    // The arrows lead from the field to the results and through them.
    around.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      const stops = [field, ...list.querySelectorAll("a")];
      const next = stops[stops.indexOf(document.activeElement) + step];
      if (!step || !stops.includes(document.activeElement) || !next || event.isComposing) return;
      event.preventDefault();
      next.focus();
    });
    if (!isPage) return;

    function keepQuery(how) {
      const address = new URL(location);
      address.searchParams.set("q", field.value.trim());
      history[how](null, "", address);
    }
    const showAsked = () => show((field.value = new URLSearchParams(location.search).get("q")?.trim() || ""));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      keepQuery("pushState");
      show(field.value.trim());
    });
    addEventListener("popstate", showAsked);
    field.focus();
    showAsked();
  }

  // A result: where the page answers best, an excerpt of it, and other sections with the words.
  function describe({ title, best, excerpt, sections }) {
    const item = document.createElement("li");
    item.append(link(best, "search-title"));
    if (best.title !== title) item.append(" ", element("span", "search-page", title));
    const paragraph = element("p", "search-excerpt");
    paragraph.append(...excerpt.map(([text, marked]) => (marked ? element("mark", "", text) : text)));
    item.append(paragraph);
    if (sections.length) {
      const inner = element("ul", "search-sections");
      inner.append(...sections.map((each) => {
        const entry = document.createElement("li");
        entry.append(link(each));
        return entry;
      }));
      item.append(inner);
    }
    return item;
  }

  function link({ address, title }, name = "") {
    const made = element("a", name, title);
    made.href = new URL(address, root);
    return made;
  }

  function element(tag, name, text = "") {
    const made = document.createElement(tag);
    if (name) made.className = name;
    made.textContent = text;
    return made;
  }

  document.querySelectorAll("form.recipe-search").forEach(attach);
})();
