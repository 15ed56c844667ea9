// second_call/charts/explorer.py writes what a page shows without this.
for (const explorer of document.querySelectorAll(".explorer")) {
  const { lang } = document.documentElement;
  const { least, most, separator, one, several, minutes, hours } = explorer.dataset;
  const all = (kind) => [...explorer.querySelectorAll(kind)];
  const [slider, output, controls] = ["input", "output", ".explorer-controls"].flatMap(all);
  const [selects, cases] = [all("select"), all(".explorer-case")];
  const digits = new Intl.NumberFormat(lang, { maximumSignificantDigits: 3 });
  const units = [[3600, hours], [60, minutes], [1, "s"], [1e-3, "ms"], [0, "µs", 1e-6]];

  function format(seconds) {
    const [from, name, size = from] = units.find(([least]) => seconds >= least);
    return `${digits.format(seconds / size)}\u00a0${name}`;
  }

  function show() {
    const calls = +(10 ** slider.value).toPrecision(2);
    const shown = cases[selects.reduce((at, each) => at * each.length + each.selectedIndex, 0)];
    for (const each of cases) each.hidden = each !== shown;
    for (const svg of shown.querySelectorAll("svg")) {
      const { left, right } = svg.dataset;
      const x = +left + ((right - left) * Math.log(calls / least)) / Math.log(most / least);
      for (const end of ["x1", "x2"]) svg.querySelector(".explorer-mark").setAttribute(end, x);
    }
    const times = JSON.parse(shown.dataset.arms)
      .map(([name, start, call]) => [start + calls * call, name])
      .sort(([a], [b]) => a - b);
    const best = times.filter(([time]) => time < 1.05 * times[0][0]).map(([, name]) => name);
    slider.ariaValueText = calls.toLocaleString(lang);
    output.textContent = (best[1] ? several : one)
      .replace("%(calls)s", slider.ariaValueText)
      .replace("%(arm)s", new Intl.ListFormat(lang).format(best))
      .replace("%(times)s", times.map(([time, name]) => `${name} ${format(time)}`).join(separator));
  }

  controls.hidden = false;
  explorer.addEventListener("input", show);
  show();
}
