// A line per thread, time to the right, an arrow where one thread's event had to come before another's. Only what is in
// view exists. `diagram`: threads; before: number -> numbers; widest: of the labels, in characters. Events
// have number, threadIndex, label, words.
//
// Every event has a column of its own, and its label stays within it, so that between two columns there is a way down that no label stands
// in: arrows leave upwards, run above their thread's line, where no label is either, and change lanes between columns.
const CHAR = 6.95, LINE = 13, MARGIN = 12; // of a label; the way between two columns

// A label in lines of at most `length` characters: broken between words, else before a bracket or after a sign, where that is possible; the last
// line cut.
function wrapLabel(text, length, most) {
  const lines = [];
  let rest = text;
  while (rest.length > length && lines.length < most - 1) {
    const space = rest.lastIndexOf(" ", length), sign = rest.slice(0, length + 1).search(/(?<=[\w)\]])[([][^([]*$|(?<=[:=.,/])[^:=.,/]*$/);
    const at = space >= length / 3 ? space : sign >= length / 3 ? sign : length;
    lines.push(rest.slice(0, at));
    rest = rest.slice(at).trimStart();
  }
  return [...lines, cut(rest, length)];
}

function spaceTime(diagram, choose) {
  const WIDEST = 16, NARROWEST = 8, FITS = 60, LINES = 3, MOST = 150, TOP = 38, R = 6.5;
  const longest = diagram.threads.reduce((most, name) => Math.max(most, name.length), 0);
  const LEFT = Math.min(170, 30 + longest * 8) + 14;
  const picture = svg("svg", { role: "img", "aria-label": "Space-time diagram" });
  const names = el("div", { class: "names" }, diagram.threads.map((name, t) => el("span", { style: { color: threadColor(t) }, title: name }, cutName(name, 16))));
  const inner = el("div", { class: "sky-inner" }, names, picture);
  const sky = el("div", { class: "sky", tabindex: "0", "aria-label": "Space-time diagram, scrolls sideways" }, inner);
  let STEP = 62, LANE = 58, chars = WIDEST, height = 0, laidOut = null, events = [], position = new Map(), step = 0, marks = { moved: new Set(), breaks: 0 };
  const x = (i) => LEFT + i * STEP + STEP / 2, laneY = (t) => TOP + t * LANE, y = (event) => laneY(event.threadIndex);

  // How many characters of a label stand in a line, and in how many lines: the most with which all events fit, if there is such a number.
  function measure(width) {
    const room = (width - LEFT - 24) / Math.max(1, events.length);
    let lines = Math.min(LINES, Math.ceil(diagram.widest / (WIDEST - 4)));
    chars = Math.max(6, Math.min(WIDEST, diagram.widest));
    if (events.length <= FITS)
      for (let length = WIDEST; length >= NARROWEST; length--) {
        const labels = events.map((event) => wrapLabel(event.label, length, LINES)), widest = Math.max(6, ...labels.flat().map((line) => line.length));
        if (widest * CHAR + MARGIN > room) continue;
        [chars, lines] = [widest, Math.max(1, ...labels.map((label) => label.length))];
        break;
      }
    STEP = Math.max(chars * CHAR + MARGIN, Math.min(MOST, room)); // the diagram uses its width
    LANE = (diagram.threads.length > 12 ? 46 : 58) + (lines - 1) * LINE;
    height = laneY(diagram.threads.length - 1) + 22 + lines * LINE;
  }

  function layOut() {
    const room = sky.clientWidth - 2;
    if (!laidOut || laidOut.room !== room || laidOut.events !== events) {
      laidOut = { room, events };
      measure(room);
      [...names.children].forEach((name, t) => name.style.setProperty("top", `${laneY(t) - 25}px`));
      inner.style.height = `${height}px`;
      picture.setAttribute("height", height);
    }
    const width = Math.max(LEFT + events.length * STEP + 24, room);
    inner.style.width = `${width}px`;
    return width;
  }

  function arrow(from, to, nth) {
    const x1 = x(from), y1 = y(events[from]), x2 = x(to), y2 = y(events[to]), corner = 6;
    const over = y1 - 12 - 4 * (nth % 3), way = x2 - STEP / 2 + 3 * (nth % 3) - 3, down = y2 > over ? 1 : -1, tip = x2 - R - 3;
    return [
      svg("path", { class: "hb", d: `M${x1} ${y1 - R}Q${x1} ${over} ${x1 + corner} ${over}H${way - corner}Q${way} ${over} ${way} ${over + down * corner}V${y2 - down * corner}Q${way} ${y2} ${way + corner} ${y2}H${tip - 5}` }),
      svg("path", { class: "hbtip", d: `M${tip} ${y2}l-7 -3.4v6.8z` }),
    ];
  }

  function dot(event, i) {
    const breaks = marks.breaks === event.number, moved = marks.moved.has(event.number);
    const kind = ["event", i >= step && "later", breaks && "breaks", moved && "moved"].filter(Boolean).join(" ");
    return svg("g", { class: kind, onclick: () => choose(i + 1) }, titled(event.words),
      moved && svg("circle", { class: "ring", cx: x(i), cy: y(event), r: R + 3.5 }),
      svg("circle", { cx: x(i), cy: y(event), r: R, fill: breaks ? "var(--bad)" : threadColor(event.threadIndex) }),
      svg("text", { x: x(i), y: y(event) + 21 }, wrapLabel(event.label, chars, LINES).map((line, n) => svg("tspan", { x: x(i), dy: n ? LINE : 0 }, line))));
  }

  // Where one is, from top to bottom, but not through the event's label.
  function cursor() {
    const line = (cx, y1, y2) => svg("line", { class: "cursor", x1: cx, x2: cx, y1, y2 });
    if (step === 0) return [line(LEFT + 4, 8, height - 6)];
    const event = events[step - 1], below = y(event) + 14 + LINE * wrapLabel(event.label, chars, LINES).length;
    return [line(x(step - 1), 8, y(event) + 10), ...(below < height - 6 ? [line(x(step - 1), below, height - 6)] : [])];
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
    diagram.threads.forEach((name, t) => parts.push(svg("line", { class: "life", x1: Math.max(LEFT, from), x2: to, y1: laneY(t), y2: laneY(t) })));
    for (let i = first; i < last; i++) {
      for (const cause of diagram.before.get(events[i].number) || [])
        if (position.has(cause) && position.get(cause) < i) arrows.push(...arrow(position.get(cause), i, arrows.length / 2));
      dots.push(dot(events[i], i));
    }
    picture.replaceChildren(...parts, ...cursor(), ...arrows, ...dots);
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
