// Every variable's value and every subformula's truth after one step.
const TRUTH = { t: "true", f: "false", o: "open" };

function statePanel(model) {
  const rows = model.variables.map((variable) => {
    const value = el("td"), row = el("tr", null, el("th", { scope: "row" }, variable.name), value);
    return { row, value };
  });
  const items = model.formulas.map((formula) => {
    const truth = el("span", { class: "truth" });
    const item = el("li", { style: { "padding-left": `${4 + Math.min(formula.depth, 12) * 16}px` } }, truth, el("span", { class: "text" }, formula.text));
    return { item, truth };
  });
  const element = el("div", { class: "state" },
    el("div", null, el("h3", null, "Values"),
      rows.length ? el("div", { class: "scrollbox" }, el("table", { class: "vars" }, el("tbody", null, rows.map((r) => r.row)))) : el("p", { class: "note" }, "The property names no variables.")),
    el("div", null, el("h3", null, "Truth of each subformula"),
      items.length && el("p", { class: "note" }, "In the state after this step. A line that stands further right is a part of the one above it; shaded: it was otherwise before."),
      items.length ? el("ul", { class: "truths scrollbox" }, items.map((i) => i.item))
        : el("p", { class: "note" }, model.from ? "Not known: that needs the run's beginning, which a bounded exploration has discarded." : "This kind of property has no subformulas to show.")));
  return {
    element,
    show(run, step) {
      const values = run.valuesAt(step), before = step > 0 ? run.valuesAt(step - 1) : values;
      rows.forEach(({ row, value }, i) => {
        const fresh = step > 0 && run.steps[step - 1].event.var === i;
        row.className = fresh ? "new" : "";
        value.replaceChildren(...(fresh ? [el("span", { class: "was" }, `${showValue(before[i])} → `)] : []), showValue(values[i]));
      });
      const word = run.truths && run.truths[step], old = run.truths && step > 0 ? run.truths[step - 1] : word;
      items.forEach(({ item, truth }, i) => {
        const letter = word ? word[i] : "";
        truth.className = `truth ${letter}`;
        truth.textContent = TRUTH[letter] || "";
        item.className = word && old && old[i] !== letter ? "new" : "";
      });
    },
  };
}

// Slider, buttons and the switch between the two runs; `show(run, step)` is called with every change.
function stepper(runs, show) {
  let run = runs[0], step = run.steps.length;
  const range = el("input", { type: "range", min: 0, step: 1, "aria-label": "Step", oninput: () => go(Number(range.value)) });
  const where = el("span", { class: "where", "aria-live": "polite" });
  const back = el("button", { class: "go", type: "button", "aria-label": "One step back", onclick: () => go(step - 1) }, "←");
  const on = el("button", { class: "go", type: "button", "aria-label": "One step on", onclick: () => go(step + 1) }, "→");
  const buttons = runs.map((r) => el("button", { type: "button", onclick: () => choose(r, r.steps.length < step ? r.steps.length : step) }, r.title));
  const element = el("div", { class: "stepper" }, runs.length > 1 && el("div", { class: "switch", role: "group", "aria-label": "Which run" }, buttons), back, range, on, where);

  function refresh() {
    range.max = run.steps.length;
    range.value = step;
    range.setAttribute("aria-valuetext", step === 0 ? "before the first step" : `step ${step} of ${run.steps.length}`);
    where.textContent = step === 0 ? "start" : `step ${step} of ${run.steps.length}`;
    back.disabled = step === 0;
    on.disabled = step === run.steps.length;
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", runs[i] === run));
    show(run, step);
  }
  function choose(newRun, newStep) {
    run = newRun;
    step = Math.max(0, Math.min(run.steps.length, newStep));
    refresh();
  }
  const go = (newStep) => choose(run, newStep);
  return {
    element, refresh, go, choose,
    key(event) {
      if (event.key === "ArrowLeft") go(step - 1);
      else if (event.key === "ArrowRight") go(step + 1);
      else if (event.key === "r" && runs.length > 1) choose(run === runs[0] ? runs[1] : runs[0], step);
      else return false;
      return true;
    },
  };
}
