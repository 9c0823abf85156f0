// Your run and the predicted one: side by side with links between them, and on a narrow page, which has no room for that,
// one below the other. Only what is in view exists.
const NARROW = matchMedia("(max-width: 680px)");
function twoRuns(model, sources, choose) {
  // Where your run itself is the violating one, one column says it all.
  const single = model.same, left = model.observed.steps, right = single ? [] : model.predicted.steps;
  const hasSource = model.actual.some((event) => sources[event.loc]);
  const ROW = hasSource ? 50 : 32, PAD = 4, HEAD = 34;
  const total = Math.max(left.length, right.length);
  const stacked = () => !single && NARROW.matches;
  const top = (side, i) => PAD + i * ROW + (stacked() ? HEAD + (side === "right" ? left.length * ROW + HEAD : 0) : 0);
  const inner = el("div", { class: "lanes-inner" });
  const digits = String(model.from + total).length;
  const lanes = el("div", { class: single ? "lanes single" : "lanes", style: { "--digits": Math.max(2, digits) }, tabindex: total * ROW > 500 ? "0" : null, role: "group", "aria-label": "Events of both runs" }, inner);
  const links = svg("svg", { class: "links", "aria-hidden": "true" });
  let now = { run: "predicted", step: 0 };

  function row(step, side) {
    const event = step.event, last = single ? step.i === left.length - 1 : side === "right" && step.i === right.length - 1;
    const moved = model.moved.has(event.number);
    const state = [side, moved && "moved", last && "breaks", side === "left" && !model.inWitness.has(event.number) && "skipped",
      now.step === step.i + 1 && (single || (now.run === "predicted") === (side === "right")) && "now"].filter(Boolean).join(" ");
    return el("div", { class: `ev ${state}`, style: { top: `${top(side, step.i)}px`, height: `${ROW - 4}px` }, title: stepWords(event), onclick: () => choose(single || side === "right" ? "predicted" : "observed", step.i + 1) },
      el("div", { class: "top" },
        el("span", { class: "n" }, model.from + step.i + 1),
        el("span", { class: "dot", style: { background: threadColor(event.threadIndex) } }),
        el("span", { class: "thread" }, event.thread),
        el("span", { class: "change" }, changeText(step)),
        el("span", { class: "loc" }, el("bdi", null, event.loc === "-" ? "" : event.loc))),
      hasSource && el("code", { class: "src" }, (sources[event.loc] || "").trim() || " "));
  }

  function link(step, width) {
    const from = model.observed.position.get(step.event.number);
    const y1 = from * ROW + PAD + 14, y2 = step.i * ROW + PAD + 14, moved = model.moved.has(step.event.number);
    const kind = moved ? "moved" : "";
    return [
      svg("path", { class: kind, "data-event": step.event.number, d: `M2 ${y1}C${width * .55} ${y1} ${width * .45} ${y2} ${width - 8} ${y2}` }),
      svg("path", { class: `tip ${kind}`, style: { fill: `var(--${moved ? "bad" : "line"})`, stroke: "none" }, d: `M${width - 2} ${y2}l-7 -3.5v7z` }),
    ];
  }

  // The rows of one side that are in view, and a few more.
  function visible(side, steps) {
    const first = Math.max(0, Math.floor((lanes.scrollTop - top(side, 0)) / ROW) - 8);
    const last = Math.min(steps.length, Math.ceil((lanes.scrollTop + Math.max(lanes.clientHeight, 400) - top(side, 0)) / ROW) + 8);
    return { first, last, rows: steps.slice(first, Math.max(first, last)).map((step) => row(step, side)) };
  }

  function draw() {
    inner.style.height = `${(stacked() ? top("right", right.length) : total * ROW) + PAD}px`;
    const ours = visible("left", left), theirs = visible("right", right), rows = [...ours.rows, ...theirs.rows];
    if (stacked()) {
      const heading = (side, title) => el("h3", { class: side, style: { top: `${top(side, 0) - HEAD}px` } }, title);
      inner.replaceChildren(heading("left", "Your run"), heading("right", model.predicted.title), ...rows);
      return;
    }
    const first = Math.min(ours.first, theirs.first), last = Math.max(ours.last, theirs.last);
    const width = links.clientWidth || 84;
    const near = right.filter((step) => {
      const from = model.observed.position.get(step.event.number);
      return (step.i >= first && step.i < last) || (from >= first && from < last);
    });
    near.sort((a, b) => model.moved.has(a.event.number) - model.moved.has(b.event.number));
    links.style.top = `${first * ROW}px`;
    links.style.height = `${(last - first) * ROW}px`;
    links.setAttribute("viewBox", `0 ${first * ROW} ${width} ${(last - first) * ROW}`);
    links.replaceChildren(...near.flatMap((step) => link(step, width)));
    inner.replaceChildren(links, ...rows);
  }

  const redraw = onFrame(draw);
  lanes.addEventListener("scroll", redraw, { passive: true });
  window.addEventListener("resize", redraw);
  const swatch = (kind) => svg("svg", { width: 26, height: 10, class: "", "aria-hidden": "true" },
    svg("line", { x1: 0, x2: 26, y1: 5, y2: 5, stroke: `var(--${kind})`, "stroke-width": 2 }));
  const element = el("section", { class: "card", "aria-label": "Both runs" },
    el("h2", null, model.same ? "Your run breaks the property" : "The same events in two orders"),
    el("p", { class: "note" }, model.same ? "The run as it happened, up to the state that breaks the property."
      : NARROW.matches ? "First what happened, then an order that the program allows as well." : "On the left what happened, on the right an order that the program allows as well. Every event is joined to itself."),
    el("div", { class: "lanes-head" },
      el("div", { class: "left" }, el("h3", null, "Your run")), el("div"),
      el("div", { class: "right" }, !single && el("h3", null, model.predicted.title))),
    lanes,
    el("ul", { class: "legend" },
      model.moved.size > 0 && el("li", null, swatch("bad"), "happens earlier than in your run"),
      !single && model.actual.length > right.length && el("li", null, el("span", { style: { opacity: .5 } }, "faded"), "not needed for the violation"),
      el("li", null, el("span", { class: "dot", style: { background: "var(--bad)" } }), `the last event${single ? "" : NARROW.matches ? " of the predicted run" : " on the right"} breaks the property`)));
  return {
    element, draw,
    show(run, step, follow) {
      now = { run, step };
      const y = top(run === "observed" || single ? "left" : "right", step - 1);
      if (follow && step > 0 && (y < lanes.scrollTop || y + ROW > lanes.scrollTop + lanes.clientHeight))
        lanes.scrollTop = y - lanes.clientHeight / 2;
      draw();
    },
  };
}
