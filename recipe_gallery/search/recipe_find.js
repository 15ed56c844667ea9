// Finds sections for a query: the words of the query, as words.py has those of the pages, are looked
// up in the index; misspelt ones are replaced; sections and pages are ranked by BM25
// (https://doi.org/10.1561/1500000019), in which a word counts the more the fewer pages have it.
recipeGallerySearch("find", (() => {
  const DENSE = "\\u3040-\\u30ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\uac00-\\ud7a3";
  const LETTER = `(?![${DENSE}])[\\p{L}\\p{N}_]`;
  const WORDS = new RegExp(`((?:${LETTER})+(?:[.\\-/=@:](?:${LETTER})+)*)|[${DENSE}]+`, "gu");
  const IS_DENSE = new RegExp(`^[${DENSE}]`, "u");
  const HANGUL = /^[\uac00-\ud7a3]/;
  const ENDINGS = ["", ..."e s d es ed er ers ing ings ion ions ation ations or ors ment ments ements ly able y ies".split(" ")];
  const HAN = /^[\u3400-\u9fff]/;
  const SENTENCES = /(?<=[.!?])\s+|(?<=[。！？])\s*|\n/u;

  const MOST = 10; // pages that are shown
  const MOST_SECTIONS = 3;
  const K = 1.2; // of BM25
  const B = 0.5;
  const HEADING = 1.5; // what a word in a section's title adds
  const TITLE = 2.5; // what one in the title of the page adds
  const PART = 0.3; // what a part of a name counts that stands on a page as a whole
  const INFLECTED = 0.9; // what another form of a word counts
  const OF_SECTIONS = 2; // what the rarity of a word among sections counts, beside that among pages
  const WHOLE = 0.25; // how much less a part of a run counts
  const SYNONYM = 0.8;
  const BEGUN = 0.6; // what a longer word counts for one that is typed
  const BOTH = 0.3; // share of the page in its rank, beside that of its best section
  const CUT = 0.3; // share of the best rank below which a page is no answer
  const EXCERPT = 200; // characters, of which Chinese and Korean need half

  const fold = (text) => text.normalize("NFKC").toLowerCase();
  const keyOf = (text) => fold(text).replace(/\s+/gu, IS_DENSE.test(text) ? "" : " ");
  const sum = (values) => values.reduce((all, value) => all + value, 0);
  const pairs = (run) => (run.length < 2 ? [run] : [...run.slice(1)].map((_, at) => run.slice(at, at + 2)));

  return (index, load, language) => {
    const pageOf = index.lengths.map(() => 0);
    index.starts.slice(1).forEach((end, page) => pageOf.fill(page, index.starts[page], end));
    const mean = sum(index.lengths) / index.lengths.length;
    const synonyms = new Map(Object.entries(index.synonyms).map(([key, meant]) => [keyOf(key), meant]));
    const inQuery = pattern([...synonyms.keys()]);

    // One pattern for all that has synonyms, the longest first
    function pattern(keys) {
      const escape = (text) => text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
      const one = (key) => IS_DENSE.test(key)
        ? (HANGUL.test(key) ? "(?<![가-힣])" : "") + [...key.replace(/\s+/gu, "")].map(escape).join("\\s*") + (/^[가-힣]$/.test(key) ? "(?![가-힣])" : "")
        : `(?<![\\p{L}\\p{N}_.=-])${escape(key).replace(/\s+/gu, "\\s+")}(?![\\p{L}\\p{N}_=-]|\\.\\p{L})`;
      const longest = keys.sort((a, b) => b.length - a.length).map(one);
      return longest.length ? new RegExp(`(${longest.join("|")})`, "gu") : /(?!)/;
    }

    // Terms of the index that begin with a text, each with its list of steps and weights
    async function termsFrom(start, exact = false) {
      const files = index.terms;
      const found = [];
      let file = Math.max(0, after(files.length, (at) => files[at][0] <= start) - 1);
      for (; file < files.length && (files[file][0] <= start || files[file][0].startsWith(start)); file++) {
        const [terms, lists] = await load(files[file][1]);
        for (let at = after(terms.length, (place) => terms[place] < start); terms[at]?.startsWith(start); at++) {
          found.push([terms[at], lists[at]]);
          if (exact) return terms[at] === start ? found : [];
        }
      }
      return found;
    }
    const exactly = (word) => termsFrom(word, true);

    // The first of so many places for which something no longer holds
    function after(end, holds) {
      let start = 0;
      while (start < end) {
        const middle = (start + end) >> 1;
        if (holds(middle)) start = middle + 1;
        else end = middle;
      }
      return start;
    }

    // How well sections answer a term, for which others may count, less; null if none has any of them
    function merge(terms, weight) {
      if (!terms.length) return null;
      const sections = new Map();
      const pages = new Set();
      for (const [, list, factor = 1] of terms) {
        for (let at = 0, section = 0; at < list.length; at += 2) {
          section += list[at];
          const [count, inTitle] = [factor * (list[at + 1] >> 1), factor * (list[at + 1] & 1)];
          const before = sections.get(section) || [0, 0];
          sections.set(section, [before[0] + count, Math.max(before[1], inTitle)]);
          pages.add(pageOf[section]);
        }
      }
      const rarity = (all, having) => Math.log(1 + (all - having + 0.5) / (having + 0.5));
      const value = weight * (rarity(index.pages.length, pages.size) + OF_SECTIONS * rarity(pageOf.length, sections.size));
      const scores = new Map();
      for (const [section, [count, inTitle]] of sections) {
        const room = K * (1 - B + (B * index.lengths[section]) / mean);
        scores.set(section, value * ((count * (K + 1)) / (count + room) + inTitle * (section === index.starts[pageOf[section]] ? TITLE : HEADING)));
      }
      return { words: terms.map(([term]) => term), value, scores };
    }

    // A run of characters of which a section has all pairs, or a part, which counts less
    function unite(run, terms) {
      const found = terms.filter(Boolean);
      const parts = new Map();
      for (const { scores } of found) {
        for (const [section, score] of scores) parts.set(section, [...(parts.get(section) || []), score]);
      }
      const scores = new Map();
      for (const [section, all] of parts) scores.set(section, sum(all) * (all.length / terms.length) ** WHOLE);
      return { run, words: [], value: sum(found.map((term) => term.value)), scores };
    }

    // A word with its other forms: compiling finds compiled
    async function family(word) {
      const [stem, ...shorter] = ENDINGS.filter((ending) => ending && word.endsWith(ending) && word.length - ending.length > 2)
        .map((ending) => word.slice(0, word.length - ending.length)).sort((a, b) => a.length - b.length);
      const start = stem ?? word;
      const known = (await termsFrom(start)).filter(([term]) => ENDINGS.includes(term.slice(start.length)));
      return known.map(([term, list]) => [term, list, term === word ? 1 : INFLECTED]);
    }

    // A word that no page has: the beginning of others, misspelt, or two words in one
    async function lookUpWord(word, weight, meant) {
      let terms = await family(word);
      if (!terms.length && word.length > 1) {
        terms = (await termsFrom(word)).slice(0, 50).map(([term, list]) => [term, list, BEGUN]);
      }
      if (terms.length || word.length < 4) return [merge(terms, weight)];
      for (const most of [1, 2]) {
        const other = closest(word, await load(index.words), most);
        if (other) {
          meant.push([word, other]);
          return [merge(await family(other), weight)];
        }
        for (let at = 3; most === 1 && at <= word.length - 3; at++) {
          const both = await Promise.all([word.slice(0, at), word.slice(at)].map(family));
          if (both.every((each) => each.length)) return both.map((each) => merge(each, weight / 2));
        }
      }
      return [];
    }

    // The words nearest to a misspelt one; of several the one that most pages have
    function closest(word, { letters }, most) {
      let best = [0, ""];
      for (let at = 0; at < letters.length; at += 2) {
        const [other, pages] = [letters[at], letters[at + 1]];
        if (Math.abs(other.length - word.length) > most || (most > 1 && (word.length < 6 || other[0] !== word[0]))) continue;
        if (distance(word, other, false) > most) continue;
        const fits = pages + (other[0] === word[0] ? 1000 : 0);
        if (fits > best[0]) best = [fits, other];
      }
      return best[1];
    }

    // A run of characters, some of which no page has side by side: what it was meant to be
    function meantRun(run, missing, { runs }) {
      for (const other of runs) {
        if (HANGUL.test(run) && HANGUL.test(other)) {
          const [typed, right] = [run, other].map((text) => text.normalize("NFD"));
          const most = right.length < 5 ? 0 : right.length < 10 ? 1 : 2;
          if (missing + 2 <= other.length && distance(right, typed, true) <= most) return other;
        } else if (other.length > 2) {
          for (let at = Math.max(0, missing + 2 - other.length); at <= missing; at++) {
            const typed = run.slice(at, at + other.length);
            const differ = [...typed].filter((sign, place) => sign !== other[place]).length;
            if (typed.length === other.length && differ === 1) return other;
          }
        }
      }
      return "";
    }

    // The terms of one word of a query
    async function lookUp(word, meant = []) {
      if (IS_DENSE.test(word)) {
        if (word.length === 1) return [merge(await termsFrom(word), 1)];
        const share = 2 / (1 + pairs(word).length);
        const terms = await Promise.all(pairs(word).map(async (pair) => merge(await exactly(pair), share)));
        const missing = terms.indexOf(null);
        const other = missing < 0 ? "" : meantRun(word, missing, await load(index.words));
        if (!other) return [unite(word, terms)];
        meant.push([word, other]);
        return lookUp(other);
      }
      const parts = [...new Set(word.split(/[.\-/=@:_]+/u).filter(Boolean))];
      if (parts.join("") === word) return lookUpWord(word, 1, meant);
      const whole = merge(await exactly(word), 1);
      const version = !whole && word.match(/^(\p{L}+)(\d[\d.]*)$/u); // Python3.11
      if (version) return (await Promise.all(version.slice(1).map((part) => lookUp(part, meant)))).flat();
      const rest = parts.map((part) => lookUpWord(part, whole ? PART : 1, meant));
      return [whole, ...(await Promise.all(rest)).flat()];
    }

    async function lookUpAll(text, meant) {
      const terms = await Promise.all((text.match(WORDS) || []).map((word) => lookUp(word, meant)));
      return terms.flat().filter(Boolean);
    }

    // Whether pages have each word of a text
    async function isKnown(text) {
      const names = (text.match(WORDS) || []).filter((word) => !IS_DENSE.test(word) && !/[.\-/=@:]/u.test(word));
      return (await Promise.all(names.map(family))).every((terms) => terms.length);
    }

    // The groups of a query: what is typed, or else a synonym of it, counts once
    async function readQuery(query) {
      const groups = [];
      const meant = [];
      for (const [at, piece] of query.split(inQuery).entries()) {
        const others = at % 2 && synonyms.get(keyOf(piece));
        if (others) {
          if (!others.length) continue; // says nothing about what is looked for
          const typed = (await isKnown(piece)) ? piece : ""; // it is not misspelt: what it means is known
          groups.push(await Promise.all([typed, ...others].map((text) => lookUpAll(text))));
          continue;
        }
        const words = piece.match(WORDS) || [];
        for (const [number, word] of words.entries()) {
          if (HANGUL.test(word) && word.length === 1 && query.length > 1) continue; // a particle
          groups.push([await lookUpAll(word, meant)]);
          const next = words[number + 1];
          const both = next && !IS_DENSE.test(word + next) && merge(await exactly(word + next), 1);
          if (both) groups.push([[both]]);
        }
      }
      if (!groups.length) groups.push([await lookUpAll(query, meant)]); // "the" and nothing else
      return { groups, meant };
    }

    function rank(groups) {
      const scores = new Map(); // of sections: the value of each group
      const ofPages = new Map(); // the best value of each group
      for (const [number, choices] of groups.entries()) {
        for (const [choice, terms] of choices.entries()) {
          const values = new Map();
          for (const term of terms) {
            const factor = choice ? SYNONYM : 1;
            for (const [section, score] of term.scores) values.set(section, (values.get(section) || 0) + factor * score);
          }
          for (const [section, value] of values) {
            for (const [map, key] of [[scores, section], [ofPages, pageOf[section]]]) {
              if (!map.has(key)) map.set(key, groups.map(() => 0));
              const all = map.get(key);
              all[number] = Math.max(all[number], value);
            }
          }
        }
      }
      const pages = new Map();
      for (const [section, values] of scores) {
        const page = pages.get(pageOf[section]) || { page: pageOf[section], sections: [] };
        page.sections.push({ section, score: sum(values) });
        pages.set(page.page, page);
      }
      for (const page of pages.values()) {
        page.sections.sort((a, b) => b.score - a.score || a.section - b.section);
        page.score = (1 - BOTH) * page.sections[0].score + BOTH * sum(ofPages.get(page.page));
      }
      const ranked = [...pages.values()].sort((a, b) => b.score - a.score || a.page - b.page);
      return ranked.filter((page, at) => at < 3 || page.score > CUT * ranked[0].score);
    }

    async function textsOf(page) {
      const at = after(index.texts.length, (place) => index.texts[place][0] <= page) - 1;
      return (await load(index.texts[at][1]))[page - index.texts[at][0]];
    }

    async function describe({ page, sections }, mark) {
      const texts = await textsOf(page);
      const all = sections.map((each) => ({ ...each, text: texts[each.section - index.starts[page]] }));
      const [best, ...others] = all;
      const link = ({ text: [anchor, title] }) => ({
        address: index.pages[page] + (anchor && `#${anchor}`),
        title: title || texts[0][1],
      });
      const near = others.filter((each) => each.text[0] && each.score > 0.5 * best.score);
      return {
        title: texts[0][1],
        best: link(best),
        excerpt: excerpt(best.text[2] || texts[0][2], mark),
        sections: near.slice(0, MOST_SECTIONS).map(link),
      };
    }

    // The sentences around the one that has most of the query, in parts: text, and whether it is marked
    function excerpt(prose, mark) {
      const sentences = prose.split(SENTENCES).filter(Boolean).map((text) => ({ text, ...mark(text) }));
      if (!sentences.length) return [];
      const most = Math.max(...sentences.map((each) => each.value));
      const first = sentences.findIndex((each) => each.value === most);
      const shown = [];
      let [room, cut] = [EXCERPT, first ? "… " : ""];
      for (const { text, parts } of sentences.slice(first)) {
        if (room <= 0) break;
        const before = parts[0][1] ? 0 : parts[0][0].length;
        if (!shown.length && before > EXCERPT / 3) {
          // The sentence is long, and what is marked stands far behind its start.
          parts[0] = [parts[0][0].slice(before - EXCERPT / 3 - 1).replace(IS_DENSE.test(text) ? "" : /^\S*\s/u, ""), false];
          cut = "… ";
        }
        shown.push(...parts, [HAN.test(text) ? "" : " ", false]);
        room -= sum([...text].map((sign) => (IS_DENSE.test(sign) ? 2 : 1)));
      }
      return [[cut, false], ...shown];
    }

    // What marks the words of a query in a text, whole ones: with their particles, and as a dictionary
    // cuts Chinese into words
    function marker(terms) {
      const names = new Map();
      const runs = new Map();
      for (const { words, run, value } of terms) {
        for (const word of run ? [] : words) names.set(word, Math.max(value, names.get(word) || 0));
        if (run) runs.set(run, (runs.get(run) || 0) + value);
      }
      const segmenter = globalThis.Intl?.Segmenter && new Intl.Segmenter(language, { granularity: "word" });
      const cut = (text) => (segmenter ? [...segmenter.segment(text)].map((each) => each.segment) : [text]);
      // places in a run of characters that belong to the query
      function find(text) {
        const found = [];
        for (const run of runs.keys()) {
          const inside = HAN.test(run) ? cut(run).filter((each) => each.length > 1) : [run.slice(0, Math.ceil(run.length / 2))];
          for (let at = 0; at < text.length; at++) {
            let end = at + 1;
            while (end < text.length && run.includes(text.slice(at, end + 1))) end++;
            const common = text.slice(at, end);
            if (!run.includes(common) || (common !== run && (common.length < 2 || !inside.some((each) => common.includes(each))))) continue;
            found.push([at, end, run]);
            at = end - 1;
          }
        }
        return found;
      }
      return (text) => {
        const parts = [];
        const seen = new Map();
        let last = 0;
        const add = (start, end, marked) => {
          if (end <= start) return;
          const before = parts.at(-1);
          if (before && before[1] === marked) before[0] += text.slice(start, end);
          else parts.push([text.slice(start, end), marked]);
          last = end;
        };
        for (const match of text.matchAll(WORDS)) {
          const [word, start] = [match[0], match.index];
          add(last, start, false);
          if (!IS_DENSE.test(word)) {
            const name = fold(word);
            const hit = [name, ...name.split(/[.\-/=@:]/u), ...name.split(/[.\-/=@:_]/u)].find((each) => names.has(each));
            if (hit) seen.set(hit, names.get(hit));
            add(start, start + word.length, Boolean(hit));
            continue;
          }
          const found = find(word);
          found.forEach(([, , run]) => seen.set(run, runs.get(run)));
          const afterMark = HANGUL.test(word) && word.length < 4 && parts.at(-1)?.[1] && last === start && !parts.at(-1)[0].endsWith(" ");
          let at = 0;
          for (const segment of HANGUL.test(word) ? [word] : cut(word)) {
            const marked = found.some(([from, to]) => from < at + segment.length && to > at);
            add(start + at, start + at + segment.length, marked || Boolean(afterMark));
            at += segment.length;
          }
        }
        add(last, text.length, false);
        return { parts: parts.length ? parts : [[text, false]], value: sum([...seen.values()]) };
      };
    }

    return async (typed) => {
      const { groups, meant } = await readQuery(fold(typed));
      const found = rank(groups);
      const mark = marker(groups.flat(2));
      const pages = await Promise.all(found.slice(0, MOST).map((page) => describe(page, mark)));
      return { count: found.length, pages, meant };
    };

    // How many letters have to be changed, left out, added or swapped. What comes after the
    // end of the first word in the second counts nothing if ``begins``.
    function distance(one, other, begins) {
      let [before, row] = [[], [...other, ""].map((_, at) => at)];
      for (let i = 1; i <= one.length; i++) {
        const next = [i];
        for (let j = 1; j <= other.length; j++) {
          const same = one[i - 1] === other[j - 1] ? 0 : 1;
          next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + same);
          if (i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]) next[j] = Math.min(next[j], before[j - 2] + 1);
        }
        [before, row] = [row, next];
      }
      return begins ? Math.min(...row) : row[other.length];
    }
  };
})());
