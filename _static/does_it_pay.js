// second_call/headlines/does_it_pay.py writes what a page shows without this.
for (const fields of document.querySelectorAll(".pays-fields")) {
  const { lang } = document.documentElement;
  const { pays, never } = fields.dataset;
  const [upFrontCost, example] = [fields.dataset.upFrontCost, fields.dataset.example].map(Number);
  const [milliseconds, calls] = fields.querySelectorAll("input");
  const output = fields.querySelector("output");
  const times = (factor) => `${new Intl.NumberFormat(lang, { maximumSignificantDigits: 3 }).format(factor)}×`;

  function show() {
    const [seconds, count] = [milliseconds.valueAsNumber / 1000, calls.valueAsNumber];
    if (!(seconds > 0 && count > 0)) return; // a field is empty while one types
    const total = seconds * count;
    const needed = (upFrontCost / (seconds * (1 - 1 / example))) * (1 + 1e-9);
    output.textContent =
      total <= upFrontCost
        ? never
        : pays
            .replace("%(run)s", count.toLocaleString(lang))
            .replace("%(milliseconds)s", milliseconds.valueAsNumber.toLocaleString(lang))
            .replace("%(factor)s", times(total / (total - upFrontCost)))
            .replace("%(example)s", times(example))
            .replace("%(calls)s", Math.max(1, +needed.toPrecision(2)).toLocaleString(lang));
  }

  fields.addEventListener("input", show);
  show();
}
