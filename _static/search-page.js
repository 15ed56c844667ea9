// The page of search results: search.html?q=...
import { clean, find, open } from "./search.js";

const form = document.querySelector("article form.bd-search");
const field = form.querySelector("input");
const status = document.getElementById("search-status");
const list = document.getElementById("search-results");
const texts = status.dataset;
const MOST_SECTIONS = 3;

let index;
let current = 0; // number of the latest query: an older one that ends later shows nothing

async function show(query) {
  const number = ++current;
  field.value = query;
  list.replaceChildren();
  status.textContent = query ? texts.searching : "";
  if (!query) return;
  let pages;
  try {
    const root = new URL(document.documentElement.dataset.content_root, location);
    index ||= open(new URL("pagefind/", root), Number(texts.parts || 1));
    pages = await find(await index, query, document.documentElement.lang);
  } catch (error) {
    if (number !== current) return;
    index = undefined;
    status.textContent = texts.failed;
    console.error(error);
    return;
  }
  if (number !== current) return;
  status.textContent = pages.length ? texts.found.replace("%s", pages.length) : texts.none;
  list.replaceChildren(...pages.map(describe));
}

// A result: the page with its excerpt, and the sections where the words stand.
function describe(page) {
  const item = document.createElement("li");
  item.append(link(page.url, page.meta.title, "search-title"), excerpt(page.excerpt, page.words));
  const sections = page.sub_results.filter((each) => each.url !== page.url && each.url.includes("#"));
  if (sections.length) {
    const inner = document.createElement("ul");
    inner.className = "search-sections";
    for (const section of sections.slice(0, MOST_SECTIONS)) {
      const entry = document.createElement("li");
      entry.append(link(section.url, section.title));
      inner.append(entry);
    }
    item.append(inner);
  }
  return item;
}

function link(address, title, name = "") {
  const element = document.createElement("a");
  element.href = address;
  element.textContent = clean(title);
  element.className = name;
  return element;
}

// The excerpt with all words of the query marked; Pagefind marks one of them, with its inflections.
function excerpt(html, words) {
  const paragraph = document.createElement("p");
  paragraph.className = "search-excerpt";
  const escaped = words.filter((word) => word.length > 1).map((word) => word.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"));
  const anyWord = escaped.length ? new RegExp(`(${escaped.join("|")})`, "giu") : /(?!)/;
  const plain = document.createElement("textarea"); // holds text, whatever is put into it
  // An excerpt can start and end within a Korean word.
  const whole = clean(html).replace(/^[\p{Script=Hangul}]{1,8} /u, "").replace(/ [\p{Script=Hangul}]{1,8}$/u, "");
  for (const [at, part] of `… ${whole} …`.split(/<\/?mark>/).entries()) {
    plain.innerHTML = part;
    const marked = at % 2 ? ["", plain.value] : plain.value.split(anyWord);
    for (const [number, text] of marked.entries()) paragraph.append(number % 2 ? mark(text) : text);
  }
  return paragraph;
}

function mark(text) {
  const element = document.createElement("mark");
  element.textContent = text;
  return element;
}

const asked = () => new URLSearchParams(location.search).get("q")?.trim() || "";
form.addEventListener("submit", (event) => {
  event.preventDefault();
  const address = new URL(location);
  address.searchParams.set("q", field.value.trim());
  history.pushState(null, "", address);
  show(asked());
});
addEventListener("popstate", () => show(asked()));
field.focus();
show(asked());
