// All states the explored runs pass, by level. Two threads make the lattice plane; more are laid out by their parents.
function placeCuts(lattice, levels, labelled) {
  const threads = lattice.cuts[0].length;
  const place = new Array(lattice.cuts.length), GAP = labelled ? 30 + threads * 14 : 40;
  if (threads === 2) {
    lattice.cuts.forEach((counts, i) => { place[i] = (counts[1] - counts[0]) * GAP * .62; });
    return place;
  }
  const parents = lattice.cuts.map(() => []);
  for (const [from, to] of lattice.edges) parents[to].push(from);
  for (const cuts of levels) {
    const wish = (i) => parents[i].length ? parents[i].reduce((sum, p) => sum + place[p], 0) / parents[i].length : 0;
    const order = cuts.map((i) => [wish(i), i]).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    order.forEach(([, i], k) => { place[i] = (k - (order.length - 1) / 2) * GAP; });
  }
  return place;
}

function windowShape(levels, kept, x, y) {
  const sides = levels.map((cuts) => cuts.filter((i) => kept(i)).map(x)).map((xs, k) => xs.length ? { k, low: Math.min(...xs), high: Math.max(...xs) } : null).filter(Boolean);
  const points = [...sides.map((s) => `${s.low - 17} ${y(s.k)}`), ...sides.reverse().map((s) => `${s.high + 17} ${y(s.k)}`)];
  return svg("path", { class: "window", d: `M${points.join("L")}z`, "stroke-linejoin": "round" });
}

function latticeCard(property, model, choose) {
  const lattice = property.detail && property.detail.lattice;
  if (!lattice || lattice.cuts.length < 2) return null;
  const levels = [];
  lattice.cuts.forEach((counts, i) => { const k = counts.reduce((a, b) => a + b, 0); (levels[k] = levels[k] || []).push(i); });
  const dropped = new Set(lattice.dropped), labelled = lattice.cuts.length <= 80 && lattice.cuts[0].length <= 4, place = placeCuts(lattice, levels, labelled);
  const GAP = levels.length > 60 ? 26 : 40, LEFT = 64, low = Math.min(...place), high = Math.max(...place);
  const x = (i) => place[i] - low + LEFT + 30, y = (k) => 22 + k * GAP;
  const level = lattice.cuts.map((counts) => counts.reduce((a, b) => a + b, 0));
  const at = (i, shift) => `${x(i) + shift} ${y(level[i])}`;
  const width = high - low + LEFT + 90, height = y(levels.length - 1) + 24;
  const bounded = property.window !== "all" || property.lookahead !== "all";
  const explored = (i) => level[i] < property.levels;
  const seen = new Set(lattice.observed), worst = new Set(lattice.violating);
  const picture = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Lattice of ${lattice.cuts.length} states` });
  if (bounded) picture.append(windowShape(levels, (i) => explored(i) && !dropped.has(i), x, y));
  for (const [from, to] of lattice.edges)
    picture.append(svg("line", { class: `edge${explored(to) ? "" : " faded"}`, x1: x(from), y1: y(level[from]), x2: x(to), y2: y(level[to]) }));
  const overlap = model.same ? 0 : 2;
  picture.append(svg("path", { class: "seen", d: `M${lattice.observed.map((i) => at(i, -overlap)).join("L")}` }));
  picture.append(svg("path", { class: "worst", d: `M${lattice.violating.map((i) => at(i, overlap)).join("L")}` }));
  const ring = svg("circle", { class: "ring", r: 10, cx: -99, cy: -99 });
  const every = Math.ceil(levels.length / 25);
  levels.forEach((cuts, k) => {
    if (k % every === 0) picture.append(svg("text", { class: "levelname", x: LEFT - 24, y: y(k) + 4 }, k === 0 ? "level 0" : k));
  });
  lattice.cuts.forEach((counts, i) => {
    const end = lattice.violating[lattice.violating.length - 1] === i;
    const kind = dropped.has(i) ? "dropped" : worst.has(i) ? "onworst" : seen.has(i) ? "onseen" : "";
    const words = `${counts.map((n, t) => `${model.threads[t]}: ${n}`).join(", ")}${end ? " (violates)" : ""}${dropped.has(i) ? " (outside the window)" : ""}`;
    const on = worst.has(i) ? [model.predicted, lattice.violating.indexOf(i)] : seen.has(i) ? [model.observed, lattice.observed.indexOf(i) - model.from] : null;
    const pick = on && on[1] >= 0 && on[1] <= on[0].steps.length;
    picture.append(svg("circle", { class: `node ${kind}${explored(i) ? "" : " faded"}${pick ? " pick" : ""}`, cx: x(i), cy: y(level[i]), r: end ? 7.5 : 5.5, onclick: pick ? () => choose(on[0], on[1]) : null }, titled(words)));
    if (labelled)
      picture.append(svg("text", { class: `label${explored(i) ? "" : " faded"}`, x: x(i) + (end ? 14 : 10), y: y(level[i]) + 3.5 }, counts.join(" ")));
  });
  picture.append(ring);
  const stroke = (kind) => svg("svg", { width: 24, height: 10, "aria-hidden": "true" }, svg("line", { x1: 1, x2: 23, y1: 5, y2: 5, stroke: `var(--${kind})`, "stroke-width": 2.4 }));
  const element = el("section", { class: "card" },
    el("h2", null, "All states of all orders"),
    el("p", { class: "note" }, `Each point is a state that some order of these events passes; its numbers count the events of ${model.threads.length <= 4 ? model.threads.join(", ") : "each thread"}. Every way down is a run.`,
      lattice.whole ? "" : " Levels after the violation are not drawn.", bounded ? ` The shaded band is what the window kept (window ${property.window}, lookahead ${property.lookahead}).` : ""),
    el("div", { class: "lattice", tabindex: "0", "aria-label": "Lattice, scrolls" }, picture),
    el("ul", { class: "legend" }, el("li", null, stroke("seen"), "your run"), el("li", null, stroke("bad"), "violating run"),
      dropped.size > 0 && el("li", null, svg("svg", { width: 12, height: 12, class: "lattice", "aria-hidden": "true", style: { overflow: "visible" } }, svg("circle", { class: "node dropped", cx: 6, cy: 6, r: 5 })), "outside the window"),
      lattice.cuts.some((c, i) => !explored(i)) && el("li", null, el("span", { style: { opacity: .45 } }, "faded"), "not explored: the search stopped at the violation")));
  return {
    element,
    show(run, step) {
      const i = run === model.predicted ? lattice.violating[step] : lattice.observed[step + model.from];
      ring.setAttribute("cx", i === undefined ? -99 : x(i));
      ring.setAttribute("cy", i === undefined ? -99 : y(level[i]));
    },
  };
}
