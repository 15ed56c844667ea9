// Finds sections for a query: the words of the query, as index.py cuts those of the pages, are looked
// up in the index; sections and pages are ranked by BM25 (https://doi.org/10.1561/1500000019), in
// which a word counts the more the fewer pages have it.
recipeGallerySearch("find", (() => {
  const DENSE = "\\u3040-\\u30ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\uac00-\\ud7a3";
  const LETTER = `(?![${DENSE}])[\\p{L}\\p{N}_]`;
  const WORDS = new RegExp(`((?:${LETTER})+(?:[.\\-/=@:](?:${LETTER})+)*)|[${DENSE}]+`, "gu");
  const IS_DENSE = new RegExp(`^[${DENSE}]`, "u");
  const HANGUL = /^[\uac00-\ud7a3]/;
  const ENDS_WIDE = /[。！？]$/u; // the next sentence follows without a space
  const ENDINGS = ["", ..."e s d es ed er ers ing ings ion ions ation ations or ors ment ments ements ly able y ies".split(" ")];
  const INFLECTED = "(?<=[a-z])(?:e?s|e?d|ing)";
  const BEHIND = `(?:${INFLECTED}(?!${LETTER})|(?<=[가-힣])[가-힣]{1,2}(?![가-힣]))?`;
  const DEFINED = /(?<=\S)이?란(?![가-힣])/gu; // behind a Korean word: it asks what that is
  const SENTENCES = /(?<=[.!?])\s+|(?<=[。！？])(?![》」』”’）])\s*|\n/u; // but not inside of 《怎么办？》

  const [MOST, MOST_SECTIONS] = [10, 3]; // pages that are shown, and sections of each
  const [K, B] = [2, 0.5]; // of BM25
  const RARE = 0.6; // power of a word's rarity: one rare word is not to outweigh all others
  const [HEADING, TITLE] = [1.5, 2.5]; // what a word in the title of a section, or of the page, adds
  const PART = 0.4; // what a part of a name counts that stands on a page as a whole
  const OF_SECTIONS = 2; // what the rarity of a word among sections counts, beside that among pages
  const WHOLE = 0.25; // how much less a part of a run counts
  const LONG = 0.7; // how much less a pair counts in a longer run
  const SINGLE = 0.3; // what a character counts that stands alone: mostly a particle, or the rest of a word
  const SYNONYM = 0.85;
  const CODE = 0.8; // what a section counts that has no prose: code, or a table
  const BOTH = 0.5; // share of the page in its rank, beside that of its best section
  const CUT = 0.3; // share of the best rank below which a page is no answer
  const EXCERPT = 200; // characters, of which Chinese and Korean need half

  const fold = (text) => text.normalize("NFKC").toLowerCase();
  const keyOf = (text) => fold(text).replace(/\s+/gu, IS_DENSE.test(text) ? "" : " ");
  const sum = (values) => values.reduce((all, value) => all + value, 0);

  return (index, language) => {
    const terms = new Map(index.terms);
    const sections = index.pages.flatMap(([, texts], page) => texts.map((text) => ({ page, text })));
    const firsts = index.pages.map((_, page) => sections.findIndex((each) => each.page === page));
    const mean = sum(index.lengths) / index.lengths.length;
    const synonyms = new Map(index.synonyms.map(([key, meant]) => [keyOf(key), meant]));
    const withSynonyms = pattern([...synonyms.keys()]);
    const cutter = Intl.Segmenter && new Intl.Segmenter(language, { granularity: "word" });
    const segment = (text) => (cutter ? [...cutter.segment(text)].map((each) => each.segment) : text.split(/\b/));

    // One pattern for all that has synonyms, the longest first; endings and particles behind it say nothing
    function pattern(keys) {
      const escape = (text) => text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
      const one = (key) => IS_DENSE.test(key)
        ? (HANGUL.test(key) ? "(?<![가-힣])" : "") + [...key.replace(/\s+/gu, "")].map(escape).join("\\s*") + (/^[가-힣]$/.test(key) ? "(?![가-힣])" : "")
        : `(?<!${LETTER}|[.=-])${escape(key).replace(/\s+/gu, "\\s+")}(?=(?:${INFLECTED})?(?!${LETTER}|[=-]|\\.${LETTER}))`;
      return keys.length ? new RegExp(`(${keys.sort((a, b) => b.length - a.length).map(one).join("|")})${BEHIND}`, "gu") : /(?!)/;
    }

    // How well sections answer words of which any counts the same; null if none has one
    function score(words, weight) {
      const found = new Map();
      for (const word of words) {
        const list = terms.get(word) || [];
        for (let at = 0, section = 0; at < list.length; at += 2) {
          section += list[at];
          const [count, inTitle] = found.get(section) || [0, 0];
          found.set(section, [count + (list[at + 1] >> 1), inTitle | (list[at + 1] & 1)]);
        }
      }
      if (!found.size) return null;
      const pages = new Set([...found.keys()].map((section) => sections[section].page));
      const rarity = (all, having) => Math.log(1 + (all - having + 0.5) / (having + 0.5));
      const value = weight * (rarity(index.pages.length, pages.size) + OF_SECTIONS * rarity(sections.length, found.size)) ** RARE;
      const scores = new Map();
      for (const [section, [count, inTitle]] of found) {
        const room = K * (1 - B + (B * index.lengths[section]) / mean);
        const title = section === firsts[sections[section].page] ? TITLE : HEADING;
        scores.set(section, value * ((count * (K + 1)) / (count + room) + inTitle * title));
      }
      return { words, value, scores };
    }

    const begunWith = (start) => [...terms.keys()].filter((term) => term.startsWith(start));

    // A run of characters of which a section has all pairs, or a part, which counts less
    function lookUpRun(run) {
      if (run.length === 1) return score(begunWith(run), SINGLE);
      const pairs = [...run.slice(1)].map((_, at) => run.slice(at, at + 2));
      const found = pairs.map((pair) => score([pair], (2 / (1 + pairs.length)) ** LONG)).filter(Boolean);
      const scores = new Map();
      for (const section of new Set(found.flatMap((each) => [...each.scores.keys()]))) {
        const values = found.map((each) => each.scores.get(section)).filter(Boolean);
        scores.set(section, sum(values) * (values.length / pairs.length) ** WHOLE);
      }
      return { run, words: [], value: sum(found.map((each) => each.value)), scores };
    }

    // The forms of a word of letters: compiling finds compiled
    function family(word) {
      const stems = ENDINGS.filter((ending) => ending && word.endsWith(ending) && word.length - ending.length > 2)
        .map((ending) => word.slice(0, word.length - ending.length)).sort((a, b) => a.length - b.length);
      const start = stems[0] ?? word;
      return begunWith(start).filter((term) => ENDINGS.includes(term.slice(start.length)));
    }

    // A word of letters; what no page has may be the beginning of others, or two words in one
    function lookUpWord(word, weight) {
      const forms = family(word);
      if (!forms.length && word.length > 1) forms.push(...begunWith(word));
      for (let at = 3; !forms.length && at <= word.length - 3; at++) {
        const both = [word.slice(0, at), word.slice(at)];
        if (both.every((part) => family(part).length)) return both.flatMap((part) => lookUpWord(part, weight / 2));
      }
      return [score(forms, weight)];
    }

    // What one word of a query finds: the whole of it, and its parts
    function lookUp(word) {
      if (IS_DENSE.test(word)) return [lookUpRun(word)];
      const parts = [...new Set(word.split(/[.\-/=@:_]+/u).filter(Boolean))];
      if (parts.join("") === word) return lookUpWord(word, 1);
      const whole = score([word], 1);
      return [whole, ...parts.flatMap((part) => lookUpWord(part, whole ? PART : 1))];
    }

    const lookUpAll = (text) => (text.match(WORDS) || []).flatMap(lookUp).filter(Boolean);

    // The groups of a query: what is typed, or else a synonym of it, counts once
    function readQuery(query) {
      const groups = query.replace(DEFINED, " $&").split(withSynonyms).flatMap((piece, at) => {
        const words = piece.match(WORDS) || [];
        if (at % 2 === 0) return words.map((word) => [lookUpAll(word)]);
        const meant = synonyms.get(keyOf(piece));
        const names = words.filter((word) => !IS_DENSE.test(word) && !/[.\-/=@:]/u.test(word));
        const typed = names.every((name) => family(name).length) ? piece : ""; // half of it is something else
        return meant.length ? [[typed, ...meant].map(lookUpAll)] : []; // "how" says nothing about what is looked for
      });
      return groups.length ? groups : [[lookUpAll(query)]]; // "the" and nothing else
    }

    function rank(groups) {
      const ofSections = new Map(); // the value of each group
      const ofPages = new Map(); // the best value of each group
      const raise = (map, key, number, value) => {
        if (!map.has(key)) map.set(key, groups.map(() => 0));
        map.get(key)[number] = Math.max(map.get(key)[number], value);
      };
      for (const [number, choices] of groups.entries()) {
        for (const [choice, found] of choices.entries()) {
          const values = new Map();
          for (const { scores } of found) {
            for (const [section, value] of scores) values.set(section, (values.get(section) || 0) + value * (choice ? SYNONYM : 1));
          }
          for (const [section, all] of values) {
            const value = sections[section].text[2] ? all : CODE * all;
            raise(ofSections, section, number, value);
            raise(ofPages, sections[section].page, number, value);
          }
        }
      }
      const pages = new Map();
      for (const [section, values] of [...ofSections].sort((a, b) => sum(b[1]) - sum(a[1]) || a[0] - b[0])) {
        const { page, text } = sections[section];
        if (!pages.has(page)) pages.set(page, { page, sections: [], score: (1 - BOTH) * sum(values) + BOTH * sum(ofPages.get(page)) });
        pages.get(page).sections.push({ text, score: sum(values) });
      }
      const ranked = [...pages.values()].sort((a, b) => b.score - a.score || a.page - b.page);
      return ranked.filter((page, at) => at < 3 || page.score > CUT * ranked[0].score);
    }

    function describe({ page, sections: [best, ...others] }, find) {
      const [address, texts] = index.pages[page];
      const title = texts[0][1];
      const link = ({ text: [anchor, own] }) => ({ address: address + (anchor && `#${anchor}`), title: own || title });
      const near = others.filter((each) => each.text[0] && each.score > 0.5 * best.score).slice(0, MOST_SECTIONS);
      return { title, best: link(best), excerpt: excerpt(best.text[2] || texts[0][2], find), sections: near.map(link) };
    }

    // The sentence that has most of the query and those after it, in parts: text, and whether it is marked
    function excerpt(prose, find) {
      const sentences = prose.split(SENTENCES).filter(Boolean).map((text) => ({ text, ...find(text) }));
      if (!sentences.length) return [];
      const most = Math.max(...sentences.map((each) => each.value));
      const first = sentences.findIndex((each) => each.value === most);
      const shown = [[first ? "… " : "", false]];
      let room = EXCERPT;
      for (const { text, places } of sentences.slice(first)) {
        if (room <= 0) break;
        const parts = cut(text, places);
        const before = parts[0][1] ? "" : parts[0][0];
        if (room === EXCERPT && before.length > EXCERPT / 3) {
          // The sentence is long, and what is marked stands far behind its start.
          shown[0][0] = "… ";
          parts[0] = [before.slice(-EXCERPT / 3).replace(IS_DENSE.test(text) ? "" : /^\S*\s/u, ""), false];
        }
        shown.push(...parts, [ENDS_WIDE.test(text) ? "" : " ", false]);
        room -= sum([...text].map((sign) => (IS_DENSE.test(sign) ? 2 : 1)));
      }
      return shown;
    }

    // A text in parts, of which those are marked that are words in places, whole ones
    function cut(text, places) {
      const parts = [];
      let at = 0;
      for (const word of segment(text)) {
        const end = at + word.length;
        const marked = places.some(([from, to]) => from < end && to > at);
        if (parts.at(-1)?.[1] === marked) parts.at(-1)[0] += word;
        else parts.push([word, marked]);
        at = end;
      }
      return parts;
    }

    // What finds the words of a query in a text: their places, and what those that are there count
    function finder(found) {
      const values = new Map(); // of names, and of what has to be there of a run: words of a dictionary, or
      for (const { words, run = "", value } of found) { // in Korean the half of it that is before particles
        const parts = HANGUL.test(run) ? [run.slice(0, Math.ceil(run.length / 2))] : [run, ...segment(run)].filter((each) => each.length > 1);
        for (const part of [...words, ...parts]) values.set(part, Math.max(value, values.get(part) || 0));
      }
      return (text) => {
        const [places, seen] = [[], new Set()];
        for (const { 0: word, index: start } of text.matchAll(WORDS)) {
          const name = fold(word);
          const parts = [name, ...name.split(/[.\-/=@:]/u), ...name.split(/[.\-/=@:_]/u)];
          const hits = IS_DENSE.test(word) ? [...values.keys()].filter((each) => name.includes(each)) : parts.filter((each) => values.has(each)).slice(0, 1);
          for (const hit of hits) {
            seen.add(hit);
            if (!IS_DENSE.test(word)) places.push([start, start + word.length]);
            else for (let at = name.indexOf(hit); at >= 0; at = name.indexOf(hit, at + 1)) places.push([start + at, start + at + hit.length]);
          }
        }
        return { places, value: sum([...seen].map((each) => values.get(each))) };
      };
    }

    return (typed) => {
      const groups = readQuery(fold(typed));
      const found = rank(groups);
      const find = finder(groups.flat(2));
      return { count: found.length, pages: found.slice(0, MOST).map((page) => describe(page, find)) };
    };
  };
})());
