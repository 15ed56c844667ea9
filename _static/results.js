// Orders and hides the rows of the results page; without it all rows stand below their questions.
for (const plot of document.querySelectorAll(".results")) {
  const controls = plot.querySelector(".results-controls");
  const list = plot.querySelector(".headlines");
  const rows = [...list.children]; // of the table: questions, and headlines below them
  const number = (row, name) => (row.dataset[name] ? Number(row.dataset[name]) : Infinity);
  const orders = {
    gain: (a, b) => number(b, "gain") - number(a, "gain"),
    calls: (a, b) => number(a, "calls") - number(b, "calls"),
  };
  const value = (name) => controls.querySelector(`[name=${name}]`)?.value || "";
  const show = () => {
    const order = orders[value("sort")];
    const losses = controls.querySelector("[name=losses]").checked;
    const machine = value("machine");
    let question;
    for (const row of rows) {
      const asks = row.classList.contains("headlines-question");
      if (asks) question = row;
      row.hidden = asks || (losses && !("loses" in row.dataset)) || (machine && machine !== row.dataset.machine);
      if (!asks && !row.hidden && !order) question.hidden = false;
    }
    list.append(...(order ? rows.filter((row) => row.dataset.gain).sort(order) : rows));
  };
  controls.addEventListener("change", show);
  // Browsers keep what was chosen; to move the rows for nothing would lay out the page twice.
  if (value("sort") || value("machine") || controls.querySelector("input:checked")) show();
}
