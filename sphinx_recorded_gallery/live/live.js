// Follows the builds, leads from each sentence to its message, and tells what is wrong.
{
  const { editor, root } = document.currentScript.dataset;
  const key = `live:${location.pathname}`;
  const folds = [...document.querySelectorAll("details")];
  const before = JSON.parse(sessionStorage.getItem(key));
  sessionStorage.removeItem(key);
  if (before) {
    folds.forEach((each, number) => { each.open = before.open[number] ?? each.open; });
    scrollTo({ top: before.top, behavior: "instant" });
  }

  const ENGLISH = { lang: "en" }; // what live says, on pages of any language

  function make(tag, properties = {}, ...children) {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  }

  async function ask(path, query) {
    return (await fetch(`${path}?${new URLSearchParams([["page", location.pathname], ...query])}`)).json();
  }

  // File and line: a link that opens an editor there, and a button that copies them.
  function placeOf(text) {
    const [, file, line] = text.match(/^(.*):(\d+)$/s);
    const path = encodeURI(file.startsWith("/") ? file : `${root}/${file}`);
    const link = make(editor ? "a" : "code", { textContent: text });
    if (editor) link.href = editor.replaceAll("{path}", () => path).replaceAll("{line}", line);
    const copy = make("button", { type: "button", textContent: "Copy", ariaLabel: `Copy ${text}` });
    copy.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(text);
        copy.textContent = "Copied";
      } catch {
        copy.textContent = "Not copied"; // the browser or the reader does not allow it
      }
    });
    return make("span", { className: "live-place" }, link, " ", copy);
  }

  function listOf(texts) {
    return make("ul", {}, ...texts.map((text) => make("li", { textContent: text })));
  }

  let messages = null; // those of the page's catalog, once they are there

  // The messages of what was chosen: where they are, in English, as translated, and advice.
  async function show(marks, chosen) {
    const found = (await (messages ??= ask("/live-messages", []))).filter(({ mark }) => marks.includes(mark));
    const dialog = make("dialog", { className: "live-dialog", ...ENGLISH, ariaLabel: "Message of this text" });
    for (const { place, source, translation, texts } of found) {
      dialog.append(
        make("section", {}, placeOf(place),
          make("p", { className: "live-source", textContent: source }),
          translation ? make("p", { lang: document.documentElement.lang, textContent: translation })
            : make("p", { textContent: "(not translated yet)" }), listOf(texts)),
      );
    }
    if (!found.length) dialog.append(make("p", { textContent: "No catalog has this message yet; make update-po brings it." }));
    const close = make("button", { type: "button", textContent: "Close" });
    close.addEventListener("click", () => dialog.close());
    dialog.append(close);
    dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
    dialog.addEventListener("close", () => {
      dialog.remove();
      chosen.focus();
    });
    document.body.append(dialog);
    dialog.showModal();
  }

  const PREFIX = "live-message-";

  // A button on each text that has a message, shown on hover and focus
  for (const element of document.querySelectorAll(`[class*="${PREFIX}"]`)) {
    const button = make("button", { type: "button", className: "live-mark", ariaLabel: "Message of this text" });
    button.addEventListener("click", (event) => {
      event.preventDefault(); // the text may be a link, or fold something
      event.stopPropagation();
      show([...element.classList].filter((name) => name.startsWith(PREFIX)), button);
    });
    if (element.tagName === "IMG") element.after(button);
    else element.append(button);
    element.classList.add("live-at");
  }

  // What is wrong, red, and what could be better, yellow
  const box = make("div", { className: "live-box", ...ENGLISH });
  document.body.append(box);

  function showProblems(problems) {
    box.querySelector(".live-problems")?.remove();
    if (!problems.length) return;
    const rows = problems.map((problem) => {
      const [, place, text] = problem.match(/^(?:[A-Z]+: )?(\S+?:\d+): (.*)$/s) ?? [];
      return place ? make("li", {}, placeOf(place), " ", text) : make("li", { textContent: problem });
    });
    const summary = make("summary", { textContent: `To mend: ${problems.length}` });
    const details = make("details", { className: "live-problems", open: true }, summary, make("ul", {}, ...rows));
    details.setAttribute("role", "alert");
    box.prepend(details);
  }

  function rowOf({ place, mark, source, translation, texts }) {
    const row = make("li", {}, placeOf(place));
    const element = mark && document.querySelector(`.${mark}`);
    if (element) {
      element.classList.add("live-advised");
      const go = make("button", { type: "button", textContent: "Show", ariaLabel: `Show ${place} on the page` });
      go.addEventListener("click", () => {
        for (let up = element; up; up = up.parentElement) if (up.tagName === "DETAILS") up.open = true;
        document.documentElement.style.scrollPaddingBottom = `${box.offsetHeight}px`; // what the box leaves free
        element.scrollIntoView({ block: "center" });
        (element.querySelector(".live-mark") ?? element.nextElementSibling).focus();
      });
      row.append(" ", go);
    }
    row.append(listOf(source && !translation ? [source] : texts));
    return row;
  }

  async function showAdvice() {
    messages = ask("/live-messages", []);
    const all = await messages;
    const rows = all.filter(({ texts }) => texts.length).sort((one, other) => one.left - other.left);
    const left = rows.filter((each) => each.left).length;
    box.querySelector(".live-advice")?.remove();
    document.querySelectorAll(".live-advised").forEach((each) => each.classList.remove("live-advised"));
    if (!rows.length) return;
    const details = make("details", { className: "live-advice", open: sessionStorage.getItem("live:advice") === "open" });
    const told = left ? [`To translate: ${left} of ${all.length}`] : [];
    if (rows.length > left) told.push(`Advice: ${rows.length - left}`);
    details.append(make("summary", { textContent: `${told.join(". ")} on this page` }), make("ul", {}, ...rows.map(rowOf)));
    details.addEventListener("toggle", () => sessionStorage.setItem("live:advice", details.open ? "open" : ""));
    box.append(details);
  }

  async function follow() {
    let shown = -1; // the build that this page is from
    for (;;) {
      try {
        const { build, problems } = await ask("/live-state", [["seen", shown]]);
        if (build === shown) continue; // nothing was saved for a while
        if (shown !== -1) {
          sessionStorage.setItem(key, JSON.stringify({ top: scrollY, open: folds.map((each) => each.open) }));
          location.reload();
          return;
        }
        shown = build;
        showProblems(problems);
        await showAdvice();
      } catch {
        await new Promise((resolve) => { setTimeout(resolve, 1000); }); // live was ended, or begins again
      }
    }
  }
  follow();
}
