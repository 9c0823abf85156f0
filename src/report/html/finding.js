// One finding, from its sentence to what one can do about it.
function sentence(property, model) {
  const how = property.how;
  if (how === "dead") return "No accepting continuation is left: whatever happens next, the property stays broken.";
  if (how === "late") return "The property missed its deadline: no pass through an accepting state came in time.";
  if (property.sides) return `${foundTitle(property)} on ${titleOf(property)}${how === "observed" ? "" : ", in another order of these events"}, ${property.count === 1 ? "seen once" : `seen ${property.count} times`}.`;
  if (property.first) return `In your run, thread ${property.first.thread} broke it.`;
  if (how !== "observed") return "Your run passed, but the same events may also happen in an order that breaks it.";
  if (model && model.predicted.steps.length === 0 && !model.from) return "The initial state already breaks it.";
  if (model && !model.same) return "Your run itself breaks it, and another order of its events does so sooner.";
  return "Your run itself breaks it.";
}

// As core/found.h calls it.
const TITLES = { race: ["Data race", "Data race"], deadlock: ["Deadlock", "Potential deadlock"], lifetime: ["Use after free", "Use after free"] };
function foundTitle(property) {
  if (property.note && property.kind !== "race") return capital(property.note);
  return property.kind in TITLES ? TITLES[property.kind][property.how === "observed" ? 0 : 1] : "Found";
}

const fact = (name, value) => value === undefined || value === null || value === "" ? null : el("div", null, el("dt", null, name), el("dd", null, value));

function exploredWords(property) {
  const least = property.order && property.order !== "access" ? "at least " : "";
  const runs = property.runs.startsWith(">") ? "more than 2^64 runs" : least + plural(property.runs, "run").replace(/^1 runs$/, "1 run");
  return `${plural(property.levels, "level")}, ${plural(property.states, "state")}, ${runs} over ${plural(property.relevant, "relevant event")}`;
}

function atWords(property) {
  if (!property.at) return null;
  const states = (list) => list.length > 12 ? `${list.slice(0, 12).join(", ")}, … (${list.length})` : list.join(", ");
  return property.thread ? `${property.thread}: ${states(property.at)}` : property.at.map((entry) => `${entry.thread}: ${states(entry.states)}`).join("; ");
}

// Another fact than what was confirmed; as report/words.c has it.
function ownCheck(property) {
  if (property.program_failed) return `The program's own check failed too: ${property.program_end}.`;
  if (property.program_failed === null) return `Whether the program's own check fails is not known: ${property.program_end}.`;
  return property.program_end === "status 0" ? "The program itself ended well (status 0)." : `The program itself ended as usual: ${property.program_end}.`;
}

// What a built-in check found is known by what it is about.
function titleOf(property) {
  if (!property.sides || !(property.kind in TITLES)) return property.name;
  return property.kind === "deadlock" ? [...new Set(property.sides.map((side) => side.object))].join(", ") : [property.object, ...(property.also || [])].join(", ");
}

function findingHead(property, model) {
  return el("div", { class: "head" },
    el("div", { class: "row" }, el("h1", null, titleOf(property)), el("span", { class: "chip violated" }, property.how || "violated"),
      property.confirmed !== undefined && el("span", { class: property.confirmed ? "chip violated" : "chip unknown" }, property.confirmed ? "confirmed" : "not reproduced"),
      ...suppressedChips(property),
      property.times > 1 && el("span", { class: "chip" }, `in ${property.times} results`)),
    el("p", { class: "lead" }, sentence(property, model)),
    property.reserve && el("p", { class: "note" }, property.reserve),
    property.confirmed && el("p", { class: "note" }, "Confirmed: another run of the program was made to take this order, and broke it."),
    property.confirmed !== undefined && property.program_end && (property.confirmed || property.program_failed) && el("p", { class: "note" }, ownCheck(property)),
    property.confirmed === false && el("p", { class: "note" }, `Not reproduced by another run of the program${property.not_reproduced ? `: ${property.not_reproduced}` : ""}.`),
    property.text && el("div", { class: "formula" }, property.text),
    el("dl", { class: "facts" }, fact("at", property.file ? `${property.file}:${property.line}` : null), fact("explored", property.levels && model ? exploredWords(property) : null), fact("order", property.order && property.order !== "access" ? property.order : null),
      property.complete ? null : fact("note", property.kind === "mttl" ? property.message || "the rest of the run is missing" : "orders beyond the window were left out"), fact("local states", atWords(property)),
      fact("time", property.time === undefined || property.time === null ? null : `${property.time} ns`), fact("in", originWords(property).join(", ")), fact("id", property.id)));
}

function happened(model, run, step) {
  if (step === 0) return [model.from ? `The state after the first ${model.from} relevant events of your run.` : "The initial state, before any of these events."];
  const { event } = run.steps[step - 1];
  const last = run === model.predicted && step === run.steps.length;
  return [el("span", { class: "mono" }, event.thread), event.op === "event" ? " raises " : event.op === "u" ? " updates " : " writes ",
    el("span", { class: "mono" }, changeText(run.steps[step - 1])), event.loc && event.loc !== "-" ? ` at ${event.loc}` : "", last ? ". In this state the property is broken." : "."];
}

function reasonsCard(model) {
  const seen = new Set(), items = [];
  for (const move of model.moves) {
    const moved = model.byNumber.get(model.witness[move.step]), over = model.byNumber.get(move.over);
    if (!moved || !over || seen.has(`${moved.threadIndex} ${over.threadIndex}`)) continue;
    seen.add(`${moved.threadIndex} ${over.threadIndex}`);
    items.push(el("li", null, el("code", null, stepWords(moved)), " may come before ", el("code", null, stepWords(over)),
      `: nothing ${moved.thread} did until then depends on that ${over.op === "event" ? "event" : "write"}. ${needsWords(moved.thread, over.thread, move)}`));
    if (items.length === 12) break;
  }
  return items.length ? el("section", { class: "card" }, el("h2", null, "Why this order is possible"), el("ul", { class: "reasons", style: { "margin-top": "10px" } }, items)) : null;
}

const ordinal = (n) => `${n}${n % 100 > 10 && n % 100 < 14 ? "th" : ["th", "st", "nd", "rd"][n % 10] || "th"}`;

function needsWords(thread, other, { needs, over_index: index }) {
  const which = needs === 0 ? `nothing of ${other}` : `no more of ${other} than its first ${needs === 1 ? "event" : `${needs} events`}`;
  return `Until then ${thread} needs ${which}, and this is ${other}’s ${ordinal(index)} event.`;
}

function suppressedChips(finding) {
  return [finding.suppressed && el("span", { class: "chip" }, `suppressed by ${finding.suppressed}`),
    finding.known && el("span", { class: "chip" }, "in the baseline")];
}

function actsCard(command, id, suppression, replay = null) {
  const act = (label, text) => el("div", { class: "act" }, el("span", null, label), el("code", null, text), copyButton(text));
  return el("section", { class: "card" }, el("h2", null, "What to do about it"),
    el("div", { class: "acts", style: { "margin-top": "12px" } }, command && act("Confirm by running", command), replay && act("Under a schedule that shows it", replay), act("Finding id", id), suppression && act("Suppress", suppression)));
}

const shellWord = (word) => /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`;

const replayOf = (property, program) => property.schedule_file ? `portent replay ${shellWord(property.schedule_file)} -- ${program ? program.map(shellWord).join(" ") : "PROGRAM [ARGS]"}` : null;

// A decentralised property: the state that broke it first, and what its thread knew of the others.
function knowledgeCard(property) {
  const first = property.first;
  const rows = Object.entries(first.values || {}).map(([name, value]) => el("tr", null, el("th", { scope: "row" }, name), el("td", null, showValue(value))));
  const knew = (first.knew || []).map((known) => !known.text.startsWith("@") && known.event ? el("li", null, `It ${known.text} `, el("code", null, stepWords(known.event)), `, event ${known.state} of ${known.thread}.`) : el("li", null, el("code", null, `${known.text} = ${showValue(known.value)}`),
    known.state > 0 && known.event ? ` from ${stepWords(known.event)}, event ${known.state} of ${known.thread}` : ` from before the first event of ${known.thread}`,
    known.heard === false ? "; it had not heard of that thread" : ""));
  return el("section", { class: "card" }, el("h2", null, `What ${first.thread} saw and knew`),
    el("p", { class: "happened" }, first.state > 0 && first.event ? ["First false in state ", first.state, ", made by ", el("span", { class: "mono" }, stepWords(first.event)), "."] : ["False in its initial state already."]),
    el("div", { class: "state" }, el("div", null, el("h3", null, "Values"), rows.length ? el("table", { class: "vars" }, el("tbody", null, rows)) : el("p", { class: "note" }, "None.")),
      el("div", null, el("h3", null, "Known of other threads"), knew.length ? el("ul", { class: "reasons" }, knew) : el("p", { class: "note" }, "The property asks for nothing of other threads."))));
}

// A property with a bound: the event at which it was too late, or beyond repair.
function withinCard(property) {
  const within = property.within, unit = within.unit === "events" ? "events" : "ns";
  const step = within.step;
  return el("section", { class: "card" }, el("h2", null, "Where the verdict fell"),
    el("p", { class: "happened" }, step ? [`At event ${property.event}: `, el("span", { class: "mono" }, stepWords(step)), within.silent ? ", after which time passed in silence." : "."] : [`After event ${property.event}.`]),
    el("dl", { class: "facts" }, fact("bound", `${within.bound} ${unit}`), fact("last accepting pass", within.passed ? `${unit === "events" ? "event " : ""}${within.last_pass}${unit === "ns" ? " ns" : ""}` : "none"),
      fact("automaton states", within.states), fact("events read", within.letters)));
}

// The lines around a place, as far as they could be read, its own marked.
function excerpt(loc, sources) {
  const at = /^(.*):(\d+)$/.exec((loc || "").replace(/^(.*:\d+):\d+$/, "$1"));
  if (!at) return null;
  const lines = [];
  for (let line = Math.max(1, at[2] - 3); line <= Number(at[2]) + 3; line++) {
    const text = sources[`${at[1]}:${line}`];
    if (text !== undefined) lines.push({ line, text, here: line === Number(at[2]) });
  }
  const indent = Math.min(...lines.filter(({ text }) => text.trim()).map(({ text }) => text.search(/\S/)), 100);
  return lines.length ? el("div", { class: "excerpt" }, lines.map(({ line, text, here }) =>
    el("div", { class: here ? "here" : null }, el("span", { class: "n", "aria-hidden": "true" }, line), el("code", null, text.slice(indent) || " ")))) : null;
}

// Calls, innermost first, each with its line of source.
function callList(calls, lost, sources) {
  if (lost) return el("p", { class: "note" }, "Stack lost: the thread had gone on too far.");
  if (!calls || !calls.length) return null;
  return el("ol", { class: "calls", start: "0" }, calls.map((call) => {
    const space = call.lastIndexOf(" "), loc = space < 0 ? "" : call.slice(space + 1), line = sources[loc];
    return el("li", null, el("span", { class: "function" }, space < 0 ? call : call.slice(0, space)), " ", el("span", { class: "loc" }, loc),
      line && line.trim() ? el("code", { class: "src" }, line.trim()) : null);
  }));
}

const ACCESS = { r: "read", w: "write", u: "atomic update", free: "free", alloc: "allocation", wait: "waits for", acq: "waits for", racq: "waits for" };
const capital = (words) => words.charAt(0).toUpperCase() + words.slice(1);

// What a side does, in the words that the text report has.
function sideTitle(property, at, i) {
  const word = ACCESS[at.op] || at.op;
  if (property.kind === "deadlock") return `${at.thread} ${property.how === "predicted" ? word.replace("waits", "can wait") : word} ${at.object}`;
  if (property.sides.length === 1) return "Where";
  if (!["race", "lifetime"].includes(property.kind)) return i ? "Second" : "First";
  const earlier = property.how === "observed" && (property.kind === "race" ? i === 0 : i > 0);
  return capital(`${earlier ? "previous " : ""}${at.atomic && at.op !== "u" ? "atomic " : ""}${word}`);
}

function lockWords(at) {
  if (!at.locks.length) return "none";
  return at.locks.map((lock, i) => at.locked_at && at.locked_at[i] ? `${lock} (locked at ${at.locked_at[i]})` : lock).join(", ");
}

// What a built-in check found: the events that must not come together, side by side, each with its source, calls and locks.
function sidesCard(property, sources) {
  const part = (title, ...body) => body.some(Boolean) ? [el("h3", null, title), ...body] : [];
  const facts = (at, locks) => el("dl", { class: "facts" }, fact("thread", at.thread), fact("place", at.loc === "-" ? null : at.loc), fact("event", at.event),
    fact("value", at.op === "w" && at.value !== undefined && at.value !== null ? showValue(at.value) : null), fact("size", at.size && at.op !== "alloc" ? plural(at.size, "byte") : null), fact("address", at.address), locks ? fact(property.kind === "deadlock" ? "holds" : "locks held", lockWords(at)) : null);
  const side = (at, i) => el("section", { class: "card side" }, el("h2", null, sideTitle(property, at, i)),
    facts(at, true), excerpt(at.loc, sources),
    part("Calls", callList(at.stack, at.stack_lost, sources)), part(`${at.thread} was created at`, callList(at.created, at.created_lost, sources)));
  const made = property.block;
  const order = property.kind === "race" ? [...property.sides.keys()].reverse() : [...property.sides.keys()];
  return el("div", null, el("div", { class: "sides" }, order.map((i) => side(property.sides[i], i))),
    made ? el("section", { class: "card" }, el("h2", null, `Heap block${made.value === undefined ? "" : ` of ${plural(made.value, "byte")}`}`),
      facts(made, false), part("Allocated at", callList(made.stack, made.stack_lost, sources))) : "");
}

// Memory of the heap has another name in the next run: by the function that accesses it, or else the place.
function sidesSuppression(property) {
  const [side] = property.sides, call = side.stack[0], space = call ? call.lastIndexOf(" ") : -1;
  if (property.kind === "deadlock") return `mutex:^${side.object}$`;
  if (!property.object.startsWith("0x") && !property.block) return [property.object, ...(property.also || [])].map((name) => `${property.kind}:^${name}$`).join("\n");
  return `${property.kind}:${space > 0 ? `^${call.slice(0, space)}$` : side.loc}`;
}

// A race by its variable, or by its place where memory has no name; a disturbed block by its name.
function suppressionOf(property) {
  if (property.sides) return sidesSuppression(property);
  const found = ((property.first && property.first.knew) || []).find((known) => !known.text.startsWith("@"));
  const event = property.first && property.first.event;
  if (!found || !event) return `property:${property.name}`;
  if (found.text !== "races with") return `atomicity:^${found.value}$`;
  return event.object.startsWith("0x") ? `race:${event.loc}` : `race:^${event.object}$`;
}

// Checks of which confirm can make a prediction happen.
const CONFIRMED = ["race", "deadlock", "lifetime"];

function propertyFinding(property, sources, resultName, program) {
  const model = decode(property);
  const confirm = `portent confirm ${shellWord(resultName)} -- ${program ? program.map(shellWord).join(" ") : "PROGRAM [ARGS]"}`;
  const predicted = (model && model.predicted.steps.length) || (property.sides && property.how === "predicted" && CONFIRMED.includes(property.kind));
  const acts = actsCard(predicted ? confirm : null, property.id, suppressionOf(property), replayOf(property, program));
  const root = el("article", { class: "finding" }, findingHead(property, model));
  if (!model || (model.predicted.steps.length === 0 && model.variables.length === 0)) {
    root.append(property.sides ? sidesCard(property, sources) : property.first ? knowledgeCard(property) : property.within ? withinCard(property)
      : el("p", { class: "note", style: { "margin-top": "14px" } }, property.message ? `No run is shown: ${property.message}.` : "There is no run to show."), acts);
    return { element: root, draw() {}, key: () => false };
  }
  const runs = model.same ? [model.predicted] : [model.predicted, model.observed];
  const label = (event) => event.op === "event" ? event.object : `${event.object}=${showValue(event.value)}`;
  const widest = model.actual.reduce((most, event) => Math.max(most, label(event).length), 0);
  const diagram = { threads: model.threads, before: model.before, widest };
  const listOf = (run) => run.steps.map(({ event }) => ({ number: event.number, threadIndex: event.threadIndex, label: label(event), words: stepWords(event) }));
  const lists = new Map(runs.map((run) => [run, listOf(run)]));
  const sky = spaceTime(diagram, (step) => control.go(step));
  const panel = statePanel(model), words = el("p", { class: "happened" });
  let current = null, ready = false;
  const control = stepper(runs, (run, step) => {
    if (run !== current) {
      current = run;
      const last = model.predicted.steps[model.predicted.steps.length - 1];
      sky.setRun(lists.get(run), { moved: run === model.predicted ? model.moved : new Set(), breaks: run === model.predicted && last ? last.event.number : 0 });
    }
    words.replaceChildren(...happened(model, run, step));
    panel.show(run, step);
    if (lattice) lattice.show(run, step);
    if (ready) {
      sky.show(step);
      both.show(run.name, step, true);
    }
  });
  const pick = (name, step) => control.choose(runs.find((run) => run.name === name) || runs[0], step);
  const both = twoRuns(model, sources, pick);
  const lattice = latticeCard(property, model, (run, step) => control.choose(runs.includes(run) ? run : runs[0], step));
  const parts = [both.element,
    el("section", { class: "card" }, el("h2", null, "Step by step"),
      el("p", { class: "note" }, "Arrows say what had to come first. Move with the slider or with the arrow keys", runs.length > 1 ? "; r switches the run." : "."),
      control.element, sky.element, words, panel.element),
    reasonsCard(model), lattice && lattice.element, acts];
  root.append(...parts.filter(Boolean));
  return { element: root, key: control.key, draw() { ready = true; control.refresh(); both.draw(); } };
}

// A block that is not causally atomic: its partial order, from the source alone or from a run.
const ROLE = { begin: "the block begins", foreign: "comes in between", later: "the block goes on, after what came in between" };

function blockFinding(block, sources) {
  const threads = [...new Set(block.witness.map((step) => step.thread))];
  const steps = block.witness.map((step, i) => ({ event: { number: i + 1, thread: step.thread, threadIndex: threads.indexOf(step.thread), op: "step", object: step.text, loc: step.loc }, i }));
  const red = block.witness.findIndex((step) => step.role === "later"), foreign = new Set(block.witness.flatMap((step, i) => step.role === "foreign" ? [i + 1] : []));
  const events = block.witness.map((step, i) => ({ number: i + 1, threadIndex: threads.indexOf(step.thread), label: step.text, words: `${step.text} (${step.thread}${step.loc ? `, ${step.loc}` : ""})` }));
  const before = new Map(block.witness.map((step, i) => [i + 1, step.after.filter((cause) => block.witness[cause].thread !== step.thread).map((cause) => cause + 1)]));
  const words = el("p", { class: "happened" });
  const widest = events.reduce((most, event) => Math.max(most, event.label.length), 0);
  const sky = spaceTime({ threads, before, widest }, (step) => control.go(step));
  sky.setRun(events, { moved: foreign, breaks: red < 0 ? events.length : red + 1 });
  const rows = block.witness.map((step, i) => el("li", { class: `pick ${step.role || ""}`, onclick: () => control.go(i + 1) }, el("span", { class: "function" }, step.text), " ",
    el("span", { class: "loc" }, [step.thread, step.loc].filter(Boolean).join(", ")), ROLE[step.role] ? el("span", { class: "role" }, ` ${ROLE[step.role]}`) : null));
  let ready = false;
  const control = stepper([{ title: "Run", steps }], (run, step) => {
    const at = step > 0 ? block.witness[step - 1] : null;
    rows.forEach((row, i) => row.classList.toggle("now", i + 1 === step));
    words.replaceChildren(...(at ? [el("span", { class: "mono" }, at.thread), ": ", el("span", { class: "mono" }, at.text), at.loc ? ` at ${at.loc}` : "", ROLE[at.role] ? ` (${ROLE[at.role]})` : "",
      sources[at.loc] ? el("code", { style: { display: "block", color: "var(--soft)" } }, sources[at.loc].trim()) : ""] : ["Before the first step."]));
    if (ready) sky.show(step);
  });
  const name = block.name || `block ${block.block}`;
  const element = el("article", { class: "finding" },
    el("div", { class: "head" }, el("div", { class: "row" }, el("h1", null, name), el("span", { class: "chip violated" }, "not causally atomic"), ...suppressedChips(block)),
      el("p", { class: "lead" }, "Something of another thread can come after a step of this block and before a later one, and both matter to it."),
      el("dl", { class: "facts" }, fact("thread", block.thread_name || block.thread), fact("at", block.loc), fact("id", block.id))),
    events.length ? el("section", { class: "card" }, el("h2", null, "The partial order that shows it"), el("p", { class: "note" }, "A line per thread; arrows say what has to come first. Ringed events are foreign, the red one completes the violation."), control.element, sky.element, words,
      el("h3", null, "Its steps"), el("ol", { class: "calls steps" }, rows)) : null,
    actsCard(null, block.id, `block:${block.name || `${block.thread_name || block.thread}/${block.block}`}`));
  const first = block.witness.findIndex((step) => step.role === "begin");
  return { element, key: control.key, draw() { ready = true; control.go(first < 0 ? 1 : first + 1); } };
}
