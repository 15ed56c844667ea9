// Search on top of Pagefind (https://pagefind.app), which looks words up in the index of a language.
//
// The index holds each Chinese character and each Korean syllable as a word of its own
// (recipe_gallery/search.py). A word of the query is looked up as a phrase of them: so it is found
// inside a longer word, and however the page sets its spaces. Pagefind alone shows only pages that
// have all words of a query; readers ask in sentences, so here each word counts, a rare one more.

const SCRIPTS = "\\p{Script=Han}\\p{Script=Hangul}\\p{Script=Hiragana}\\p{Script=Katakana}";
const RUNS = new RegExp(`([${SCRIPTS}]+)`, "u");
const BETWEEN = /[\s,;:!?"'，。：；？！、（）()]+/u;
// Signs around a word that belong to the sentence, not to a name such as _dynamo or C++
const EDGES = /^[^\p{L}\p{N}_]+|[^\p{L}\p{N}_+#]+$/gu;
// between characters that need none: 컴파일 모드 is looked for as 컴파일모드
const SPACES = new RegExp(`(?<=[${SCRIPTS}])\\s+|\\s+(?=[${SCRIPTS}])`, "gu");
// Written by recipe_gallery/search.py where the index has a space that the page has not
const NO_SPACE = /\u2063(<\/mark>)? ?/g;

const CANDIDATES = 20; // pages whose titles are looked at
const WORD = 0.4; // what a word of a run counts when the run stands on a page as a whole, too
const ENDING = 0.6; // what a run counts without its last syllable, which may be a particle
const TITLE = 2; // what an occurrence in the title adds
const HEADING = 0.5;
const K = 1.2; // of BM25
const B = 0.75;
const CUT = 0.3; // share of the best score below which a page is no answer

// Load the index in a folder, and the further parts that a large site has: pagefind-1/ and so on.
export async function open(folder, parts = 1) {
  const pagefind = await import(new URL("pagefind.js", folder));
  const dense = RUNS.test(document.querySelector("h1")?.textContent); // each character is a word
  const options = { excerptLength: dense ? 90 : 40 };
  await pagefind.options(options);
  await pagefind.init();
  const others = Array.from({ length: parts - 1 }, (_, number) => new URL(`../pagefind-${number + 1}/`, folder));
  await Promise.all(others.map((other) => pagefind.mergeIndex(other.href, options)));
  const pages = (await pagefind.search(null)).results.length;
  return { pagefind, pages };
}

// Return the pages that answer a query, the best first, as Pagefind describes them.
export async function find(index, query, language) {
  const pages = new Map(); // { result, terms }, the terms that it has, by key
  const parts = query.normalize("NFKC").toLowerCase().split(BETWEEN);
  const runs = parts.flatMap((part) => part.split(RUNS)).map((run) => run.replace(EDGES, ""));
  const lookUps = [...new Set(runs.filter(Boolean))].map((run) =>
    RUNS.test(run) ? lookUpRun(index, run, language) : lookUpName(index, run),
  );
  for (const term of (await Promise.all(lookUps)).flat()) {
    for (const result of term.results) {
      const page = pages.get(result.id) || { terms: [], best: 0 };
      page.terms.push({ ...term, count: result.words.length });
      // The excerpt is about the rarest word.
      if (term.weight > page.best) Object.assign(page, { result, best: term.weight });
      pages.set(result.id, page);
    }
  }
  const weigh = (page) => page.terms.reduce((all, term) => all + term.weight, 0);
  const candidates = [...pages.values()].sort((a, b) => weigh(b) - weigh(a)).slice(0, CANDIDATES);
  const found = await Promise.all(candidates.map(async (page) => ({ ...page, data: await page.result.data() })));
  for (const name of new Set(found.flatMap((page) => page.terms.filter((term) => term.whole).map((term) => term.text)))) {
    const pages = found.filter((page) => compact(page.data.content).includes(name)).length;
    for (const page of found) {
      for (const term of page.terms) if (term.text === name && term.whole) term.weight = rarity(index, pages);
    }
  }
  const mean = found.reduce((all, page) => all + page.data.word_count, 0) / found.length;
  const words = (page) => [...new Set(page.terms.map((term) => term.text))];
  const ranked = found.map((page) => ({ ...page.data, score: score(page, mean), words: words(page) }));
  ranked.sort((a, b) => b.score - a.score);
  return ranked.filter((page) => page.score > CUT * ranked[0].score); // none if that is 0
}

// How well a page answers: BM25 (https://doi.org/10.1561/1500000019), with what titles add.
function score({ data, terms }, mean) {
  const text = compact(data.content);
  const letters = lettersOf(text);
  const title = compact(data.meta.title || "");
  const headings = data.sub_results.map((each) => compact(each.title));
  const room = K * (1 - B + (B * data.word_count) / mean);
  const best = new Map(); // of a run with and without its ending, the better one counts
  for (const { key, text: term, weight, count, whole } of terms) {
    // Pagefind also takes a word that is the beginning of the one it is asked for, down to a letter.
    const start = lettersOf(term);
    const near = letters.includes(start.slice(0, Math.max(3, Math.ceil(0.6 * start.length)))) ? count : 0;
    const times = whole || RUNS.test(term) ? text.split(term).length - 1 : near;
    let value = (weight * times * (K + 1)) / (times + room);
    if (title.includes(term)) value += TITLE * weight;
    else if (headings.some((heading) => heading.includes(term))) value += HEADING * weight;
    best.set(key, Math.max(value, best.get(key) || 0));
  }
  return [...best.values()].reduce((all, value) => all + value, 0);
}

// A word of letters; a name such as torch.compile also in parts, which is how the index has it.
async function lookUpName(index, run) {
  const parts = run.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  if (parts.join("") === run) return [await lookUp(index, run, run, run, 1)];
  const terms = await Promise.all(parts.map((part) => lookUp(index, part, part, part, WORD)));
  const whole = (await index.pagefind.search(run)).results; // first, for excerpts that show it
  const results = new Map([...terms.flatMap((term) => term.results), ...whole].map((result) => [result.id, result]));
  // How many pages have the whole name is known when their text is there.
  return [{ key: run, text: run, results: [...results.values()], weight: 1, whole: true }, ...terms];
}

// A run of characters without spaces: as a whole, the words in it, and without its last syllables.
async function lookUpRun(index, run, language) {
  const phrase = (text, key, factor) => lookUp(index, `"${[...text].join(" ")}"`, text, key, factor);
  const whole = await phrase(run, run, 1);
  const words = [...new Intl.Segmenter(language, { granularity: "word" }).segment(run)].map((each) => each.segment);
  if (words.length > 1) {
    const factor = whole.results.length ? WORD : 1;
    return [whole, ...(await Promise.all(words.map((word) => phrase(word, word, factor))))];
  }
  const terms = [whole];
  for (let length = run.length - 1, factor = ENDING; length >= 2; length--, factor *= ENDING) {
    terms.push(await phrase(run.slice(0, length), run, factor));
  }
  return terms;
}

// Look one term up; it weighs more the fewer pages have it.
async function lookUp(index, term, text, key, factor) {
  const results = (await index.pagefind.search(term)).results;
  return { key, text, results, weight: factor * rarity(index, results.length) };
}

function rarity(index, pages) {
  return Math.log(1 + index.pages / (pages || 1));
}

// Return text of the index as the page has it.
export function clean(html) {
  return html
    .replace(NO_SPACE, "$1")
    .replaceAll("</mark><mark>", "")
    .replace(/(?<=[，。：；？！、）]) /gu, "") // Pagefind puts a space between blocks of text
    .replace(/<mark>([，。：；？！、（《“]+)/gu, "$1<mark>");
}

// Return text to look into: without the spaces of the index, and those of the page.
function compact(text) {
  return clean(text).toLowerCase().replace(SPACES, "");
}

function lettersOf(text) {
  return text.replace(/[^\p{L}\p{N}]/gu, "");
}
