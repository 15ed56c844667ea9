// second_call/charts/explorer.py writes what a page shows without this.
for (const explorer of document.querySelectorAll(".explorer")) {
  const { lang } = document.documentElement;
  const { least, most, nearly, separator, one, several, two, minutes, hours, short, long } = explorer.dataset;
  const find = (selector) => explorer.querySelector(selector);
  const slider = find("input");
  const output = find("output");
  const beside = find(".explorer-calls");
  const shown = find(".explorer-case");
  const marks = JSON.parse(explorer.dataset.marks).map(([pattern, mark]) => [RegExp(pattern, "g"), mark]);
  const digits = new Intl.NumberFormat(lang, { maximumSignificantDigits: 3 /* from 100 s on */ });
  const units = [[1, "s"], [1e-3, "ms"], [0, "µs", 1e-6]];

  function format(seconds) {
    if (seconds < 119.5) {
      const value = +seconds.toPrecision(seconds < 100 ? 2 : 3);
      const [from, name, size = from] = units.find(([least]) => value >= least);
      return `${digits.format(value / size)}\u00a0${name}`;
    }
    const [unit, name, both] = seconds < 3600 ? [60, minutes, short] : [3600, hours, long];
    const step = seconds < 10 * unit ? unit / 60 : unit;
    const total = Math.floor(seconds / step + 0.5) * step;
    const large = Math.floor(total / unit).toLocaleString(lang);
    const small = Math.floor(((total % unit) * 60) / unit);
    const shown = (small ? both : name).replace("%(large)s", large).replace("%(small)s", small);
    return shown.replaceAll(" ", "\u00a0");
  }

  function show() {
    const calls = +(10 ** slider.value).toPrecision(2);
    const place = `${(100 * Math.log(calls / least)) / Math.log(most / least)}%`;
    for (const end of ["x1", "x2"]) shown.querySelector(".explorer-mark").setAttribute(end, place);
    const times = JSON.parse(shown.dataset.variants)
      .map(([name, start, call]) => [start + calls * call, name])
      .sort(([a], [b]) => a - b);
    const best = times.filter(([time]) => time < nearly * times[0][0]).map(([, name]) => name);
    const last = best.at(-1);
    slider.ariaValueText = calls.toLocaleString(lang);
    beside.textContent = slider.ariaValueText;
    const said = (best[1] ? several : one)
      .replace("%(case)s", () => shown.dataset.name)
      .replace("%(calls)s", slider.ariaValueText)
      .replace("%(variant)s", best[1] ? two : last)
      .replace("%(first)s", () => best.slice(0, -1).join(separator))
      .replace("%(last)s", () => last)
      .replace("%(times)s", times.map(([time, name]) => `${name} ${format(time)}`).join(separator));
    output.textContent = marks.reduce((text, [pattern, mark]) => text.replace(pattern, mark), said);
    shown.querySelector("[role=img]").ariaLabel = output.textContent;
  }

  explorer.addEventListener("input", show);
  show();
}
