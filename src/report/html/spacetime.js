// A line per thread, time to the right, an arrow where one thread's event had to come before another's. Only what is in
// view exists. `diagram`: threads; before: number -> numbers; widest: of the labels, in characters. Events
// have number, threadIndex, label, words.
function spaceTime(diagram, choose) {
  const widest = Math.min(14, Math.max(6, diagram.widest)), LEAST = Math.max(62, widest * 7.4 + 14), MOST = 150, LANE = diagram.threads.length > 12 ? 44 : 58, TOP = 34, R = 6.5;
  const longest = diagram.threads.reduce((most, name) => Math.max(most, name.length), 0);
  const LEFT = Math.min(170, 30 + longest * 8) + 14;
  const height = TOP + (diagram.threads.length - 1) * LANE + 34;
  const picture = svg("svg", { height, role: "img", "aria-label": "Space-time diagram" });
  const names = el("div", { class: "names" }, diagram.threads.map((name, t) =>
    el("span", { style: { top: `${TOP + t * LANE - 25}px`, color: threadColor(t) }, title: name }, cutName(name, 16))));
  const inner = el("div", { class: "sky-inner", style: { height: `${height}px` } }, names, picture);
  const sky = el("div", { class: "sky", tabindex: "0", "aria-label": "Space-time diagram, scrolls sideways" }, inner);
  let STEP = LEAST, events = [], position = new Map(), step = 0, marks = { moved: new Set(), breaks: 0 };
  const x = (i) => LEFT + i * STEP + STEP / 2, y = (event) => TOP + event.threadIndex * LANE;

  function arrow(from, to, event) {
    const x1 = x(from), y1 = y(events[from]), x2 = x(to), y2 = y(event);
    const dx = x2 - x1, dy = y2 - y1, length = Math.hypot(dx, dy) || 1, ux = dx / length, uy = dy / length;
    const ex = x2 - ux * (R + 3), ey = y2 - uy * (R + 3);
    return [
      svg("path", { class: "hb", d: `M${x1 + ux * R} ${y1 + uy * R}L${ex - ux * 5} ${ey - uy * 5}` }),
      svg("path", { class: "hbtip", d: `M${ex} ${ey}L${ex - ux * 7 - uy * 3.4} ${ey - uy * 7 + ux * 3.4}L${ex - ux * 7 + uy * 3.4} ${ey - uy * 7 - ux * 3.4}z` }),
    ];
  }

  function dot(event, i) {
    const breaks = marks.breaks === event.number, moved = marks.moved.has(event.number);
    const kind = ["event", i >= step && "later", breaks && "breaks", moved && "moved"].filter(Boolean).join(" ");
    return svg("g", { class: kind, onclick: () => choose(i + 1) }, titled(event.words),
      moved && svg("circle", { class: "ring", cx: x(i), cy: y(event), r: R + 3.5 }),
      svg("circle", { cx: x(i), cy: y(event), r: R, fill: breaks ? "var(--bad)" : threadColor(event.threadIndex) }),
      svg("text", { x: x(i), y: y(event) + 21 }, cut(event.label, widest)));
  }

  function layOut() {
    const room = (sky.clientWidth - 2 - LEFT - 24) / Math.max(1, events.length); // the diagram uses its width
    STEP = Math.max(LEAST, Math.min(MOST, room));
    const width = Math.max(LEFT + events.length * STEP + 24, sky.clientWidth - 2);
    inner.style.width = `${width}px`;
    return width;
  }

  function draw() {
    const width = layOut();
    const first = Math.max(0, Math.floor((sky.scrollLeft - LEFT) / STEP) - 4);
    const last = Math.min(events.length, Math.ceil((sky.scrollLeft + (sky.clientWidth || 900)) / STEP) + 4);
    const from = Math.max(0, x(first) - 2 * STEP - LEFT), to = last === events.length ? width : x(last) + STEP;
    picture.style.left = `${from}px`;
    picture.setAttribute("width", to - from);
    picture.setAttribute("viewBox", `${from} 0 ${to - from} ${height}`);
    const parts = [], arrows = [], dots = [];
    diagram.threads.forEach((name, t) => parts.push(svg("line", { class: "life", x1: Math.max(LEFT, from), x2: to, y1: TOP + t * LANE, y2: TOP + t * LANE })));
    for (let i = first; i < last; i++) {
      for (const cause of diagram.before.get(events[i].number) || [])
        if (position.has(cause) && position.get(cause) < i) arrows.push(...arrow(position.get(cause), i, events[i]));
      dots.push(dot(events[i], i));
    }
    const cx = step === 0 ? LEFT + 4 : x(step - 1);
    parts.push(svg("line", { class: "cursor", x1: cx, x2: cx, y1: 8, y2: height - 6 }));
    picture.replaceChildren(...parts, ...arrows, ...dots);
  }

  const redraw = onFrame(draw);
  sky.addEventListener("scroll", redraw, { passive: true });
  window.addEventListener("resize", redraw);
  return {
    element: sky, draw,
    setRun(list, newMarks) {
      events = list;
      marks = newMarks;
      position = new Map(list.map((event, i) => [event.number, i]));
    },
    show(newStep) {
      step = newStep;
      layOut();
      const at = step === 0 ? 0 : x(step - 1);
      if (at < sky.scrollLeft + LEFT + 20 || at > sky.scrollLeft + sky.clientWidth - 60)
        sky.scrollLeft = at - sky.clientWidth / 2;
      draw();
    },
  };
}
