/* The page: messages in, everything drawn at most once per animation frame. All text goes in as text. */
const $ = (id) => document.getElementById(id);
const timeline = new Timeline($("canvas"));
let model = newModel(), fleet = null, source = null, paused = false, dirty = true, reset = false, drag = null, pinch = 0;
const pointers = new Map(); // that touch the time line
const SPANS = { min: 1e6, max: 3600e9 };

function element(tag, className, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}

function replace(parent, nodes) { parent.replaceChildren(...nodes); }

function shownThreads() {
  // rows stay where they are; where there are too many, those that have ended make room
  const all = [...model.threads.values()], most = 200;
  let spare = Math.max(0, all.length - most);
  return all.filter((thread) => thread.state !== "ended" || spare-- <= 0).slice(0, most);
}

function showHead() {
  $("program").textContent = fleet && !chosenProgram() ? `${fleet.running} programs` : model.program ? `${model.program} (${model.pid}) at ${model.address}` : "nothing yet";
  const all = fleet && !chosenProgram(), sum = (key) => fleet.programs.reduce((n, program) => n + program[key], 0);
  const lost = all ? sum("lost") : model.lost;
  $("clock").textContent = `${(model.now / 1e9).toFixed(1)} s`;
  $("clock").parentElement.hidden = all;
  $("events").textContent = (all ? sum("events") : model.events).toLocaleString("en");
  $("lost").textContent = lost.toLocaleString("en");
  $("lost").classList.toggle("some", lost > 0);
}

// Too late is what no event did: the last one before that says where the program was.
function causeWords(property) {
  if (property.word.startsWith("late")) return property.cause ? `as time passed; the last event before that: ${property.cause}` : "as time passed";
  return property.cause ? `at ${property.cause}` : "as time passed";
}

function showProperties() {
  replace($("properties"), model.properties.map((property) => {
    const node = element("li", property.verdict);
    const at = property.time === undefined ? "" : ` at ${(property.time / 1e9).toFixed(3)} s`;
    node.title = property.text;
    node.append(element("i", "light"), element("span", "name", property.name), element("span", "word", (property.verdict === "violated" ? `violated: ${property.word}` : property.word) + at));
    if (property.verdict === "violated")
      node.append(element("code", "formula", property.text), element("span", "cause", causeWords(property)));
    if (property.verdict === "holds" || property.verdict === "unknown") node.append(element("span", "states", property.states));
    return node;
  }));
}

function showThreads() {
  const threads = shownThreads();
  replace($("names"), threads.map((thread) => {
    const node = element("li", thread.state), locks = [...thread.open.keys()];
    const doing = thread.state + (thread.detail ? `: ${thread.detail}` : "") + (locks.length ? `, holds ${locks.join(", ")}` : "");
    node.append(element("b", "", thread.name), element("span", "", doing));
    node.title = `${thread.name}: ${doing}`;
    return node;
  }));
  if (!paused) timeline.right = model.now;
  timeline.draw(model, threads);
  $("span").textContent = duration(timeline.span);
  showRough(threads);
}

// File and line, which are the end of a place that may be long.
function placeCell(place) {
  const cell = element("td", "", place === "-" ? "" : place.slice(place.lastIndexOf("/") + 1));
  if (place !== "-") cell.title = place;
  return cell;
}

// How long ago details end, and how rough what was before them is: known where such strokes are in view.
function showRough(threads) {
  const left = timeline.right - timeline.span, rough = model.stretch > 0 && threads.some((thread) => thread.past && thread.since > left && thread.since > 0);
  $("rough").hidden = !rough;
  if (rough) $("stretch").textContent = duration(model.stretch);
}

function logRow(entry) {
  const kind = entry.op === "lost" ? "lost" : entry.op === "note" ? (/ (dead|late|violated|error) /.test(entry.text) ? "note bad" : "note") : "";
  const row = element("tr", kind), what = kind ? entry.text : `${entry.op}(${entry.text})`;
  row.append(element("td", "", `${(entry.time / 1e9).toFixed(4)} s`), element("td", "", entry.thread), element("td", "", what),
    placeCell(entry.place));
  return row;
}

function showLog() {
  const everything = $("everything").checked;
  const entries = model.log.filter((entry) => everything || !QUIET.has(entry.op)).slice(-200).reverse();
  replace($("log").tBodies[0], entries.map(logRow));
  $("empty").hidden = entries.length > 0;
}

function draw() {
  dirty = false;
  showFleet(fleet);
  showHead();
  showProperties();
  showThreads();
  if (!paused) showLog();
}

function soon() {
  if (!dirty) requestAnimationFrame(draw);
  dirty = true;
}

function setPaused(value) {
  paused = value;
  $("pause").setAttribute("aria-pressed", String(paused));
  $("pause").textContent = paused ? "Go on" : "Pause";
  soon();
}

/* Around the pointer while paused, else with the present at the right edge. */
function zoom(factor, x) {
  const span = Math.min(SPANS.max, Math.max(SPANS.min, timeline.span * factor));
  if (paused && x !== undefined) {
    const at = timeline.time(x);
    timeline.right = at + (timeline.right - at) * span / timeline.span;
  }
  timeline.span = span;
  soon();
}

function link(word, kind) {
  $("link").textContent = word;
  $("link").className = `chip ${kind}`;
}

function listen() {
  if (source) source.close();
  source = new EventSource(chosenProgram() ? `events?program=${chosenProgram()}` : "events");
  const mine = source;
  const take = (event) => {
    if (reset) model = newModel(); // the server sends the past again
    reset = false;
    const message = JSON.parse(event.data);
    fleet = message.fleet || null;
    if (message.items) takeMessage(model, message);
    soon();
  };
  mine.onopen = () => { reset = true; link("live", "live"); };
  mine.onmessage = take;
  mine.addEventListener("end", (event) => {
    take(event);
    mine.close();
    link(!fleet && model.ended ? "the program has ended" : "watching has ended", "");
  });
  mine.onerror = () => link("connection lost", "broken");
}

window.addEventListener("hashchange", listen);
$("fleet-filter").oninput = soon;
$("pause").onclick = () => setPaused(!paused);
$("in").onclick = () => zoom(0.5);
$("out").onclick = () => zoom(2);
$("everything").onchange = () => { showLog(); };
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || ["INPUT", "BUTTON"].includes(event.target.tagName)) return;
  if (event.key === " ") setPaused(!paused);
  else if (event.key === "+" || event.key === "=") zoom(0.5);
  else if (event.key === "-") zoom(2);
  else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
    setPaused(true);
    timeline.right += (event.key === "ArrowLeft" ? -1 : 1) * timeline.span / 5;
  } else return;
  event.preventDefault();
});
$("canvas").addEventListener("wheel", (event) => {
  event.preventDefault();
  zoom(event.deltaY > 0 ? 1.25 : 0.8, event.offsetX);
}, { passive: false });
/* Two fingers: how far they are apart, and where their middle is. */
function fingers() {
  const [a, b] = [...pointers.values()];
  return { apart: Math.max(20, Math.abs(a - b)), middle: (a + b) / 2 };
}
$("canvas").addEventListener("pointerdown", (event) => {
  pointers.set(event.pointerId, event.offsetX);
  drag = pointers.size === 1 ? { x: event.offsetX, right: timeline.right } : null;
  if (pointers.size === 2) pinch = fingers().apart;
});
function letGo(event) {
  pointers.delete(event.pointerId);
  drag = null;
}
for (const end of ["pointerup", "pointercancel"]) window.addEventListener(end, letGo);
$("canvas").addEventListener("pointermove", (event) => {
  if (pointers.has(event.pointerId)) pointers.set(event.pointerId, event.offsetX);
  if (pointers.size === 2) {
    const { apart, middle } = fingers();
    if (!paused) setPaused(true);
    zoom(pinch / apart, middle);
    pinch = apart;
    return;
  }
  if (drag && Math.abs(event.offsetX - drag.x) > 3) {
    if (!paused) setPaused(true);
    timeline.right = drag.right - (event.offsetX - drag.x) / timeline.width * timeline.span;
    soon();
  }
  $("hint").textContent = timeline.at(event.offsetX, event.offsetY);
});
window.addEventListener("resize", soon);
$("timeline").addEventListener("scroll", soon, { passive: true });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { timeline.colors(); soon(); });
draw();
listen();
