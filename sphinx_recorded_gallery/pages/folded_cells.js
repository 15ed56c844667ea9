// Folded cells of a recipe's page: all at once, where a link leads, and on paper.
// Each of them opens without this file, too. https://html.spec.whatwg.org/#ancestor-revealing-algorithm
// lets browsers open them for links and for find-in-page; what older ones lack stands here.
(() => {
  const cells = [...document.querySelectorAll("details.folded-cell")];
  const setAll = (open, some = cells) => some.forEach((cell) => (cell.open = open));

  // One button under the title: it opens all while one is closed, and then closes them.
  const button = document.querySelector("button.unfold-all");
  if (button) {
    const unfold = button.textContent;
    const anyClosed = () => cells.some((cell) => !cell.open);
    const label = () => (button.textContent = anyClosed() ? unfold : button.dataset.fold);
    button.addEventListener("click", () => setAll(anyClosed()));
    cells.forEach((cell) => cell.addEventListener("toggle", label));
  }

  // What the address leads to: null if it is the page itself, or nothing
  function findTarget() {
    const id = location.hash.slice(1);
    if (!id) return null;
    try {
      return document.getElementById(decodeURIComponent(id));
    } catch {
      return document.getElementById(id); // a sign that is no code
    }
  }

  // A link to something inside of a cell, from here or from elsewhere
  function follow() {
    const target = findTarget();
    const cell = target?.closest("details.folded-cell");
    if (!cell || cell.open) return;
    cell.open = true;
    target.scrollIntoView();
  }
  follow();
  addEventListener("hashchange", follow);
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href*='#']");
    if (link && link.href === location.href) setTimeout(follow); // no change of the address
  });

  // Paper cannot be unfolded.
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = cells.filter((cell) => !cell.open);
    setAll(true, closed);
  });
  addEventListener("afterprint", () => setAll(false, closed));
})();
